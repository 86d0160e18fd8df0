package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// A question came when several calls were in flight, and the last of them ended before it could be shown: nobody is
// asked. One that came without any call is the server's own, and is shown. Finding B16.
func TestQuestionWhoseLastCallEndedBeforeItOpened(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		v := w.everything()
		if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		id, err := jsonrpc.ParseID([]byte("7"))
		if err != nil {
			t.Fatal(err)
		}
		q := &mcp.Question{Kind: mcp.ElicitationForm, WireID: id, Message: "Name?",
			Payload: json.RawMessage(`{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}`), OfSome: true}
		ctx, stop := context.WithCancelCause(context.Background())
		defer stop(nil)
		asked := make(chan error, 2)
		go func() {
			_, err := w.hub.AskAs(ctx, "s", q)
			asked <- err
		}()
		pass(0)
		select {
		case err := <-asked:
			if !errors.Is(err, mcp.ErrCallOver) {
				t.Errorf("it ended with %v", err)
			}
		default:
			t.Error("a prompt opened although all calls are over")
			v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
			<-asked
		}
		own := *q
		own.OfSome = false
		go func() {
			_, err := w.hub.AskAs(ctx, "s", &own)
			asked <- err
		}()
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
		if err := <-asked; err != nil {
			t.Error(err)
		}
	})
}
