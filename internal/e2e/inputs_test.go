//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// inputFile writes a user's mcp.json with three servers: one needs a secret, one that and another, one a choice.
func (e *estate) inputFile() *mcphubv1.ConfigSource {
	e.t.Helper()
	server := func(env object) object {
		env["GORACE"] = atOnce["GORACE"]
		return object{"command": e.peer, "args": []string{"teller"}, "env": env, "approvals": allowAll}
	}
	return e.ofUser(e.write("User/mcp.json", jsonText(e.t, object{
		"inputs": []object{
			{"id": "key", "type": "promptString", "description": "Key of the service", "password": true},
			{"id": "other", "type": "promptString", "description": "Another key", "password": true},
			{"id": "region", "type": "pickString", "description": "Where?",
				"options": []any{"eu", object{"label": "Overseas", "value": "us"}}, "default": "us"},
		},
		"servers": object{
			"teller": server(object{"KEY": "${input:key}"}),
			"second": server(object{"KEY": "${input:key}", "OTHER": "x-${input:other}"}),
			"picky":  server(object{"REGION": "${input:region}"}),
		},
	})))
}

// variable asks a teller for a variable of its environment.
func (d *door) variable(server, name string) *call {
	d.t.Helper()
	return d.call(server, "environment", `{"name":"`+name+`"}`)
}

// fill answers the open prompt for an input.
func fill(t *testing.T, w *fakeeditor.Window, id, value string) *mcphubv1.Prompt {
	t.Helper()
	p := w.WaitPrompt(inputPrompt)
	if p.GetConfigInput().GetInputId() != id {
		t.Fatalf("the question is for %v, want %s", p.GetConfigInput(), id)
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	takes(t, w.Accept(p.GetPromptId(), string(text)))
	return p
}

// rememberedInputs returns the ids of the inputs that have a value, and the inputs without ids and times.
func rememberedInputs(d *door) (ids []string, list []*mcphubv1.Remembered) {
	d.t.Helper()
	r, err := d.Servers.ListRemembered(d.ctx, &mcphubv1.ListRememberedRequest{})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, x := range r.GetRemembered() {
		if x.GetKind() != mcphubv1.RememberedKind_REMEMBERED_KIND_CONFIG_INPUT {
			continue
		}
		ids = append(ids, x.GetRememberedId())
		if x.GetTime() == nil || x.GetRememberedId() == "" {
			d.t.Errorf("an answer without id or time: %v", x)
		}
		x = proto.Clone(x).(*mcphubv1.Remembered)
		x.RememberedId, x.Time = "", nil
		list = append(list, x)
	}
	return ids, list
}

// TestInputWithoutKeyring: a secret is asked for once and used. Without a keyring, which is logged once, it is kept in
// a file that only the user can read; the next hub does not ask. What is remembered is listed without its value, and
// after Forget the prompt opens again.
func TestInputWithoutKeyring(t *testing.T) {
	t.Parallel()
	const secret, other = `k3y-"quoted" & long`, "an0ther-k3y"
	e := newEstate(t)
	source := e.inputFile()
	d, logs := e.hub(source)
	w := d.window("side bar")
	first := d.variable("teller", "KEY")
	p := fill(t, w, "key", secret)
	want := &mcphubv1.ConfigInput{InputId: "key", Description: "Key of the service", Secret: true, ConfigFile: source.Path,
		ConfigLine: 1}
	if diff := cmp.Diff(want, p.GetConfigInput(), protocmp.Transform()); diff != "" || p.GetServer() != "teller" {
		t.Errorf("the question of %s (-want +got):\n%s", p.GetServer(), diff)
	}
	if got := first.text(); got != secret {
		t.Errorf("the server got %q", got)
	}
	second := d.variable("second", "OTHER")
	fill(t, w, "other", other)
	if got := second.text(); got != "x-"+other {
		t.Errorf("the second server got %q", got)
	}
	if got := d.variable("second", "KEY").text(); got != secret {
		t.Errorf("the second server got %q", got)
	}
	if n := strings.Count(logs.String(), "keyring"); n != 1+strings.Count(logs.String(),
		"sign-ins are not kept in the system's keyring") {
		t.Errorf("the log tells of the keyring %d times:\n%s", n, logs)
	}
	info, err := os.Stat(filepath.Join(e.state, "inputs.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	d.shut()

	d, logs = e.hub(source)
	w = d.window("side bar")
	if got := d.variable("teller", "KEY").text(); got != secret || opened(w, inputPrompt) != 0 {
		t.Errorf("the next hub gave %q and asked %d times", got, opened(w, inputPrompt))
	}
	ids, list := rememberedInputs(d)
	wantList := []*mcphubv1.Remembered{
		{Kind: mcphubv1.RememberedKind_REMEMBERED_KIND_CONFIG_INPUT, InputId: "key", Scope: forGood},
		{Kind: mcphubv1.RememberedKind_REMEMBERED_KIND_CONFIG_INPUT, InputId: "other", Scope: forGood},
	}
	if diff := cmp.Diff(wantList, list, protocmp.Transform()); diff != "" {
		t.Fatalf("what is remembered (-want +got):\n%s", diff)
	}
	r, err := d.Servers.Forget(d.ctx, &mcphubv1.ForgetRequest{RememberedIds: []string{ids[0], "unknown"}})
	if err != nil || r.GetForgotten() != 1 {
		t.Errorf("forgot %v, %v", r, err)
	}
	if _, list := rememberedInputs(d); len(list) != 1 || list[0].GetInputId() != "other" {
		t.Fatalf("after Forget of one value: %v", list)
	}
	if got := d.variable("teller", "KEY").text(); got != secret {
		t.Errorf("Forget changed the running server: got %q", got)
	}
	if _, err := d.Servers.StopServer(d.ctx, &mcphubv1.StopServerRequest{Server: "teller"}); err != nil {
		t.Fatal(err)
	}
	again := d.variable("teller", "KEY")
	fill(t, w, "key", "another value")
	if got := again.text(); got != "another value" {
		t.Errorf("the server got %q", got)
	}
	// The other value is kept.
	if got := d.variable("second", "OTHER").text(); got != "x-"+other || opened(w, inputPrompt) != 1 {
		t.Errorf("after Forget the second server got %q; asked %d times", got, opened(w, inputPrompt))
	}
	// The forgotten value is in no file.
	for path, text := range files(t, e.state) {
		if strings.Contains(text, "k3y-") {
			t.Errorf("%s still holds what was forgotten", path)
		}
	}
	if strings.Contains(logs.String(), "k3y-") || strings.Contains(logs.String(), "another value") {
		t.Errorf("the log holds a value:\n%s", logs)
	}
}

// TestInputKeptByHost: the hub uses the value until it ends, lists it with the scope once, and writes it nowhere.
func TestInputKeptByHost(t *testing.T) {
	t.Parallel()
	const secret = "k3pt-by-the-host"
	e := newEstate(t)
	source := e.inputFile()
	for range 2 {
		d, logs := e.hub(source)
		w := d.window("side bar")
		c := d.variable("teller", "KEY")
		p := w.WaitPrompt(inputPrompt)
		takes(t,
			w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: &mcphubv1.PromptAnswer{
				PromptId: p.GetPromptId(), Action: &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{ContentJson: `"` +
					secret + `"`, KeptByHost: true}},
			}}}))
		if got := c.text(); got != secret {
			t.Errorf("the server got %q", got)
		}
		if _, err := d.Servers.RestartServer(d.ctx, &mcphubv1.RestartServerRequest{Server: "teller"}); err != nil {
			t.Fatal(err)
		}
		if got := d.variable("teller", "KEY").text(); got != secret || opened(w, inputPrompt) != 1 {
			t.Errorf("after a restart of the server: %q, asked %d times", got, opened(w, inputPrompt))
		}
		if _, list := rememberedInputs(d); len(list) != 1 || list[0].GetScope() != once {
			t.Errorf("remembered: %v", list)
		}
		d.shut()
		for path, text := range files(t, e.state) {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds the value", path)
			}
		}
		if strings.Contains(logs.String(), secret) {
			t.Errorf("the log holds the value:\n%s", logs)
		}
	}
}

// TestInputChoices: a value that is none of the options is refused and the prompt stays open; after a decline the error
// names the input; a cancel of the call closes the prompt.
func TestInputChoices(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	d, _ := e.hub(e.inputFile())
	a, b := d.window("side bar"), d.window("panel")
	c := d.variable("picky", "REGION")
	p := a.WaitPrompt(inputPrompt)
	want := []*mcphubv1.ConfigInputOption{{Value: "eu", Label: "eu"}, {Value: "us", Label: "Overseas"}}
	if diff := cmp.Diff(want, p.GetConfigInput().GetOptions(), protocmp.Transform()); diff != "" ||
		p.GetConfigInput().GetDefaultValue() != "us" || p.GetConfigInput().GetSecret() {
		t.Errorf("the question is %v (-want +got):\n%s", p.GetConfigInput(), diff)
	}
	for _, wrong := range []string{`"asia"`, `"Overseas"`, `7`, ``, `{"value":"eu"}`} {
		refused(t, a.Accept(p.GetPromptId(), wrong), "INVALID_CONTENT")
	}
	takes(t, b.Accept(p.GetPromptId(), `"us"`))
	if got := c.text(); got != "us" || a.WaitClosed(p.GetPromptId()).GetWindowId() != b.ID() {
		t.Errorf("the server got %q", got)
	}

	c = d.variable("teller", "KEY")
	takes(t, a.Decline(a.WaitPrompt(inputPrompt).GetPromptId(), ""))
	if f := c.fails("FAILED_PRECONDITION", "CONFIG_INPUT_MISSING"); f.Meta["input"] != "key" ||
		!strings.Contains(f.Message, `"key"`) {
		t.Errorf("the error is %+v", f)
	}
	c = d.variable("teller", "KEY")
	p = a.WaitPrompt(inputPrompt)
	b.WaitShown(p.GetPromptId()) // a window that has not been told of a question yet is not told of its end
	cancels(t, b, c.id, "never mind")
	c.fails("CANCELLED", "CANCELLED")
	for _, w := range []*fakeeditor.Window{a, b} {
		if got := w.WaitClosed(p.GetPromptId()).GetCause(); got != mcphubv1.PromptCause_PROMPT_CAUSE_PARENT {
			t.Errorf("%s: closed with %v", w, got)
		}
	}
}
