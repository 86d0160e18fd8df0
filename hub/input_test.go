package hub_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const userFile = "/config/Code/User/mcp.json"

var userInputs = []config.Input{
	{ID: "key", Description: "the key of the service", Secret: true, Origin: config.Origin{File: userFile, Line: 3}},
	{ID: "region", Description: "where it is", Default: "eu", Options: []config.InputOption{{Value: "eu", Label: "Europe"},
		{Value: "us"}}, Origin: config.Origin{File: userFile, Line: 4}},
}

// inputWorld returns a world with the servers s and t of one file, which refer to its inputs.
func inputWorld(t *testing.T, stateDir, s, other string) *world {
	t.Helper()
	w := newWorldWith(t, hub.Options{StateDir: stateDir}, map[string]*fakeserver.Server{"s": hanging(), "t": hanging()})
	w.inputs(s, other)
	return w
}

// inputs loads the config of the two servers.
func (w *world) inputs(s, other string) {
	w.t.Helper()
	w.hub.EditConfig(func(c *config.Server) { c.Inputs = userInputs }) // before the restart of what runs
	w.source(hub.ConfigSource{Path: userFile, Scope: "user", JSON: `{"servers":{"s":{"command":"s",` + s + `,` + allow +
		`},"t":{"command":"t",` + other + `,` + allow + `}}}`})
}

const (
	wantsKey    = `"env":{"KEY":"${input:key}"}`
	wantsRegion = `"args":["--region=${input:region}"]`
)

// input returns the one open prompt, which must ask for the value of this input.
func (v *view) input(id string) event.PromptInfo {
	v.t.Helper()
	p := v.prompt()
	if p.Kind != event.PromptConfigInput || p.Input == nil || p.Input.InputID != id {
		v.t.Fatalf("the open prompt is %+v, %+v", p, p.Input)
	}
	return p
}

func (v *view) give(id, content string) {
	v.t.Helper()
	v.answer(event.PromptAnswer{PromptID: v.input(id).ID, Action: event.ActionAccept, Content: content})
}

// The only caller goes before it is known that a value is missing: nobody is asked, and the server is as if it had not
// been started. The next caller is asked.
func TestConfigInputNobodyWantsAnyMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := inputWorld(t, "", wantsKey, wantsKey)
		gate := make(chan struct{})
		w.hub.HoldInputs(gate)
		v := w.user("")
		c := w.call(hub.CallRequest{ID: "r", Server: "s", Tool: "echo"})
		synctest.Wait()
		if _, err := v.win.Cancel("r", "too slow"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		close(gate)
		v.noPrompt()
		if n := len(eventsOf[*event.PromptOpened](v)); n != 0 {
			t.Errorf("%d prompts were shown", n)
		}
		if s := w.server("s"); s.State != event.ServerStopped || s.LastError != "" {
			t.Errorf("the server is %+v", s)
		}
		c = w.echo()
		v.give("key", `"abc-123"`)
		c.ok(t)
		w.nothingLeft()
	})
}
