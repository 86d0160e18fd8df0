package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folderWithServer makes a workspace folder with a config file that has the demo server, with a secret in its
// arguments. The server writes a record once it runs.
func (p *settings) folderWithServer() (flags []string, record string) {
	p.t.Helper()
	record = filepath.Join(p.dir, "ran.jsonl")
	text, err := json.Marshal(map[string]any{
		"inputs": []any{map[string]any{"id": "token", "type": "promptString", "description": "Your token", "password": true}},
		"servers": map[string]any{"srv": map[string]any{
			"command": p.path, "args": []string{"demo-server", "--record", "${workspaceFolder}/ran.jsonl", "--greet",
				"token ${input:token}"},
		}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return []string{"--config", p.config("mcp.json", string(text)), "--dialect", "vscode", "--scope", "workspace",
		"--folder", p.dir, "--server", "srv",
		"--tool", "echo", "--args", `{"text":"hi"}`, "--approve", "allow"}, record
}

func ran(t *testing.T, record string) bool {
	t.Helper()
	_, err := os.Stat(record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// TestCallNeedsConsentAndInputs: without a terminal a workspace's server starts only with flags that allow the
// launch and give its inputs, and no output shows a value that a flag gave.
func TestCallNeedsConsentAndInputs(t *testing.T) {
	const secret = "s3cret-value"
	for _, test := range []struct {
		args   []string
		status int
		says   []string
	}{
		{nil, 5, []string{"nobody could be asked", "--launch deny shows", "--launch allow"}},
		{[]string{"--launch", "deny"}, 5, []string{"may server srv be started?", "  command: ", "  directory: ",
			"/ran.jsonl\n", "argument: --greet", "argument: token ${input:token}", "denied"}},
		{[]string{"--launch", "allow"}, 5, []string{"nobody could be asked", "--input token=VALUE"}},
		{[]string{"--launch", "allow", "--input", "token=@MCPHUB_TEST_TOKEN"}, 0, []string{"given by --input token"}},
	} {
		p := inBubbles(t)
		p.setenv("MCPHUB_TEST_TOKEN", secret)
		flags, record := p.folderWithServer()
		for _, form := range [][]string{nil, {"--json"}} {
			r := p.run(append(append(append([]string{"call"}, flags...), test.args...), form...)...)
			if r.status != test.status || ran(t, record) != (test.status == 0) {
				t.Errorf("%q: status %d, ran %v\n%s%s", test.args, r.status, ran(t, record), r.stdout, r.stderr)
			}
			for _, says := range test.says {
				if form == nil && !strings.Contains(r.stderr, says) {
					t.Errorf("%q: stderr does not say %q:\n%s", test.args, says, r.stderr)
				}
			}
			if strings.Contains(r.stdout+r.stderr, secret) {
				t.Errorf("%q %q: the output shows the value:\n%s%s", test.args, form, r.stdout, r.stderr)
			}
		}
	}
}

// TestServersSaysWhoAsks: the list says which server needs consent before it starts, and --start asks for it.
func TestServersSaysWhoAsks(t *testing.T) {
	p := inBubbles(t)
	flags, record := p.folderWithServer()
	source := flags[:8]
	r := p.run(append([]string{"servers"}, source...)...)
	if r.status != 0 || !strings.Contains(r.stdout, "stopped, asks before it starts") ||
		!strings.Contains(r.stdout, "(vscode, workspace)") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	r = p.run(append([]string{"servers", "--start"}, source...)...)
	if r.status != 6 || !strings.Contains(r.stdout, "nobody could be asked") || ran(t, record) {
		t.Errorf("--start: status %d, ran %v\n%s%s", r.status, ran(t, record), r.stdout, r.stderr)
	}
	r = p.run(append([]string{"servers", "--start", "--launch", "allow", "--input", "token=x"}, source...)...)
	if r.status != 0 || !strings.Contains(r.stdout, "ready") || !ran(t, record) {
		t.Errorf("--start --launch allow: status %d, ran %v\n%s%s", r.status, ran(t, record), r.stdout, r.stderr)
	}
}

// TestCallAsksOnTerminal_real: on a terminal a person is asked for consent, for inputs and for approval, in turn; the
// secret is not shown while it is typed, and only a yes lets the server start and the tool run.
func TestCallAsksOnTerminal_real(t *testing.T) {
	t.Parallel()
	const secret = "typed-s3cret"
	p := build(t)
	flags, record := p.folderWithServer()
	flags = slices.DeleteFunc(flags, func(s string) bool { return s == "--approve" || s == "allow" })
	term := p.onTerminal(nil, append([]string{"call"}, flags...)...)
	term.expect("command: "+p.path, "argument: --record", "Start server srv? [y/N] ")
	if ran(t, record) {
		t.Error("the server ran before the yes")
	}
	term.enter("y")
	term.expect("server srv needs the input token: Your token", "Value of token (not shown):")
	if err := until(t.Context(), "a terminal that hides what is typed", func() (bool, error) {
		return !shows(t, term.master), nil
	}); err != nil {
		t.Fatal(err)
	}
	term.enter(secret)
	term.expect("may echo run on srv?", `text: "hi"`, "[y/N] ")
	term.enter("y")
	if status := term.wait(); status != 0 || !strings.Contains(term.said.String(), "hi\r\n") {
		t.Errorf("status %d\n%s", status, term.said.String())
	}
	if strings.Contains(term.said.String(), secret) {
		t.Errorf("the screen shows the secret:\n%s", term.said.String())
	}

	line, _ := p.demoServer()
	for question, call := range map[string][]string{"Start server srv? [y/N] ": append(flags, "--approve", "allow"),
		"may echo run on stdio?": {"--stdio", line, "--tool", "echo", "--args", `{"text":"hi"}`}} {
		term = p.onTerminal(nil, append([]string{"call"}, call...)...)
		term.expect(question)
		term.enter("")
		if status := term.wait(); status != 5 {
			t.Errorf("Enter alone: status %d\n%s", status, term.said.String())
		}
	}
}
