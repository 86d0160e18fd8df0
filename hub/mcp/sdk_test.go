//lint:file-ignore SA1019 the SDK marks roots and sampling as deprecated with 2026-07-28; servers of older revisions live on them.

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// sdkPeer is a server of the official Go SDK: a peer that was not written for these tests.
type sdkPeer struct {
	server    *sdk.Server
	started   chan struct{} // the slow tool has begun
	cancelled chan error    // how the slow tool ended
	withdrawn chan error    // how the withdrawn elicitation ended
	asked     chan struct{}
	gone      chan struct{} // the question has ended at the client
}

func newSDKPeer() *sdkPeer {
	p := &sdkPeer{
		server:  sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1.8.0"}, nil),
		started: make(chan struct{}, 1), cancelled: make(chan error, 1), withdrawn: make(chan error, 1),
		asked: make(chan struct{}), gone: make(chan struct{}),
	}
	text := func(s string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
	}
	type none struct{}
	type in = *sdk.CallToolRequest
	sdk.AddTool(p.server, &sdk.Tool{Name: "progress"}, func(ctx context.Context, r in, _ none) (*sdk.CallToolResult, any,
		error) {
		for i := range 3 {
			if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "step",
			}); err != nil {
				return nil, nil, err
			}
		}
		return text("done"), nil, nil
	})
	sdk.AddTool(p.server, &sdk.Tool{Name: "slow"}, func(ctx context.Context, _ in, _ none) (*sdk.CallToolResult, any,
		error) {
		p.started <- struct{}{}
		<-ctx.Done()
		p.cancelled <- ctx.Err()
		return nil, nil, ctx.Err()
	})
	// The SDK turns these input requests into real requests for a legacy client.
	sdk.AddTool(p.server, &sdk.Tool{Name: "ask"}, func(_ context.Context, r in, _ none) (*sdk.CallToolResult, any, error) {
		if len(r.Params.InputResponses) == 0 {
			return &sdk.CallToolResult{RequestState: "state-1", InputRequests: sdk.InputRequestMap{
				"name": &sdk.ElicitParams{Message: "Your name?"},
				"llm": &sdk.CreateMessageParams{MaxTokens: 5, Messages: []*sdk.SamplingMessage{
					{Role: "user", Content: &sdk.TextContent{Text: "hi"}},
				}},
				"roots": &sdk.ListRootsParams{},
			}}, nil, nil
		}
		name := r.Params.InputResponses["name"].(*sdk.ElicitResult)
		roots := r.Params.InputResponses["roots"].(*sdk.ListRootsResult)
		model := ""
		switch m := r.Params.InputResponses["llm"].(type) {
		case *sdk.CreateMessageResult:
			model = m.Model
		case *sdk.CreateMessageWithToolsResult:
			model = m.Model
		}
		return text(name.Action + " " + name.Content["name"].(string) + " " + model + " " + roots.Roots[0].URI + " " +
			r.Params.RequestState), nil, nil
	})
	sdk.AddTool(p.server, &sdk.Tool{Name: "withdraw"}, func(ctx context.Context, r in, _ none) (*sdk.CallToolResult, any,
		error) {
		ectx, cancel := context.WithCancelCause(ctx)
		go func() {
			<-p.asked
			cancel(errors.New("no longer needed"))
		}()
		_, err := r.Session.Elicit(ectx, &sdk.ElicitParams{Message: "Sure?"})
		p.withdrawn <- err
		<-p.gone // over HTTP the SDK drops a withdrawal that comes behind the result
		return text("withdrawn"), nil, nil
	})
	return p
}

func (p *sdkPeer) open(t *testing.T) Opener {
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return func(context.Context) (*Link, error) {
		link, fromClient, toClient := wire()
		serving.Go(func() {
			// A client on stdio ends the server by the end of its input; some versions report that as an error.
			_ = p.server.Run(context.Background(), &sdk.IOTransport{Reader: pipeReader{fromClient},
				Writer: pipeWriter{toClient}})
			_ = toClient.Close()
		})
		return link, nil
	}
}

type pipeReader struct{ *pipe }

func (pipeReader) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

type pipeWriter struct{ *pipe }

func (pipeWriter) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

func TestGoSDKServerLegacyAndModern(t *testing.T) {
	for era, want := range map[string]Era{EraLegacy: Legacy, EraAuto: Modern} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testGoSDKServer(t, era, want) })
		})
	}
}

func testGoSDKServer(t *testing.T, era string, want Era) {
	p := newSDKPeer()
	causes := make(chan error, 1)
	h := &recorder{roots: []Root{{URI: "file:///w"}}}
	h.ask = func(ctx context.Context, q *Question) (Answer, error) {
		switch {
		case q.Kind == Sampling:
			return Answer{Action: Accept, Content: json.RawMessage(`{"role":"assistant","model":"m1","content":{"type":"text","text":"hello"}}`)},
				nil
		case q.Message == "Sure?":
			close(p.asked)
			defer close(p.gone)
			return hang(causes)(ctx, q)
		}
		return Answer{Action: Accept, Content: json.RawMessage(`{"name":"Ada"}`)}, nil
	}
	s, err := Connect(background, Options{
		Server: "sdk", Open: p.open(t), Era: era, Client: testClient, Handler: h,
		Capabilities: func() Capabilities { return everything },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(nil)
	if s.Era() != want || s.Info().Name != "sdk" || !s.Info().HasTools {
		t.Fatalf("era %v, info %+v", s.Era(), s.Info())
	}

	t.Log("tools and changes of them")
	tools, err := s.ListTools(background)
	if err != nil || len(tools) != 4 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	synctest.Wait()
	sdk.AddTool(p.server, &sdk.Tool{Name: "late"}, func(context.Context, *sdk.CallToolRequest,
		struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	pass(time.Minute) // fake time: the SDK gathers changes for a moment
	synctest.Wait()
	if h.changed() != 1 {
		t.Errorf("%d changes", h.changed())
	}

	t.Log("progress")
	var steps []float64
	got, err := s.CallTool(background, &CallRequest{Name: "progress", OnProgress: func(p Progress) {
		steps = append(steps, p.Progress)
	}})
	if err != nil || !strings.Contains(string(got.Raw), `"done"`) {
		t.Errorf("%+v, %v", got, err)
	}
	// Progress may be coalesced; the last step always arrives, and none after the result.
	if len(steps) == 0 || steps[len(steps)-1] != 3 {
		t.Errorf("steps %v", steps)
	}

	t.Log("cancel: the server stops, and its late answer harms nobody")
	ctx, cancel := context.WithCancelCause(background)
	out := begin(ctx, s, &CallRequest{Name: "slow"})
	synctest.Wait()
	cancel(&stopped{"enough"})
	var cancelled *jsonrpc.CancelledError
	if o := finished(t, out); !errors.As(o.err, &cancelled) || !cancelled.Sent {
		t.Errorf("got %v", o.err)
	}
	if err := <-p.cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("the tool ended with %v", err)
	}
	synctest.Wait()
	if st := s.Stats(); st.LateResponses != 1 {
		t.Errorf("%d late responses", st.LateResponses)
	}

	t.Log("elicitation, sampling and roots in one call")
	got, err = s.CallTool(background, &CallRequest{Name: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	// Whoever retries carries the state: the SDK itself towards a legacy client, this session towards a modern server.
	if !strings.Contains(string(got.Raw), `accept Ada m1 file:///w state-1`) {
		t.Errorf("got %s", got.Raw)
	}
	if rounds := map[Era]int{Legacy: 1, Modern: 2}[want]; got.Rounds != rounds {
		t.Errorf("%d rounds, want %d", got.Rounds, rounds)
	}

	if want == Modern {
		return // a modern server has no requests to withdraw
	}
	t.Log("withdrawal of the server's own question")
	if _, err := s.CallTool(background, &CallRequest{Name: "withdraw"}); err != nil {
		t.Fatal(err)
	}
	var withdrawn *jsonrpc.WithdrawnError
	if cause := <-causes; !errors.As(cause, &withdrawn) || withdrawn.Reason == "" {
		t.Errorf("the question ended with %v", cause)
	}
	if err := <-p.withdrawn; err == nil {
		t.Error("the server got an answer to the question that it withdrew")
	}
	synctest.Wait()
	if st := s.Stats(); st.WithdrawnRequests != 1 || st.SuppressedResponses != 1 {
		t.Errorf("stats %+v", st)
	}
}
