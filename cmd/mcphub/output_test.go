package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func TestTable(t *testing.T) {
	var out bytes.Buffer
	table{header: []string{"NAME", "STATE", "ABOUT"}, rows: [][]string{
		{"a", "ready", "short"},
		{"löngér", "-", strings.Repeat("long ", 20)},
		{"evil\x1b[2J", "x", "two\nlines"},
	}}.writeWithin(&out, 40, false)
	want := `NAME         STATE  ABOUT
a            ready  short
löngér       -      long long long long…
evil\x1b[2J  x      two\nlines
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A line of JSON is the same JSON to a program, and harmless on a terminal. Finding C9.
func TestJSONLineIsHarmless(t *testing.T) {
	const text = "a\u009b31m\u202eb\u200b\x7f\U000e0041 Zürich 日本 👩\u200d💻"
	line := jsonLine(&mcphubv1.Tool{Name: text})
	if strings.ContainsFunc(string(line), func(r rune) bool { return hostile(r, "") }) {
		t.Errorf("%q", line)
	}
	var back struct{ Name string }
	if err := json.Unmarshal(line, &back); err != nil || back.Name != text {
		t.Errorf("%s: %q, %v", line, back.Name, err)
	}
	var out bytes.Buffer
	if printErrorLine(&output{w: &out}, &failure{Message: text}); strings.ContainsFunc(strings.TrimSpace(out.String()),
		func(r rune) bool {
			return hostile(r, "")
		}) {
		t.Errorf("%q", out.String())
	}
}

// A long name of a tool is shown shortened, with its length. Finding C9.
func TestLongNamesAreShortened(t *testing.T) {
	name := strings.Repeat("x", 100_000)
	var out bytes.Buffer
	table{header: []string{"TOOL", "ABOUT"}, rows: [][]string{{name, "about"}}}.writeWithin(&out, 0, false)
	said := strings.Join(newTeller("").question(&mcphubv1.Prompt{Server: "s",
		Question: &mcphubv1.Prompt_ToolApproval{ToolApproval: &mcphubv1.ToolApproval{Tool: name}}}), "\n")
	for _, text := range []string{out.String(), said, requestAbout(&mcphubv1.Request{Tool: name})} {
		if len(text) > 1000 || !strings.Contains(text, "100000 characters") {
			t.Errorf("%d bytes: %.300s", len(text), text)
		}
	}
}

// What a window did not get is reported by kind, and only the kinds that were dropped.
func TestDroppedIsTold(t *testing.T) {
	for want, dropped := range map[string]*mcphubv1.Dropped{
		"40 log messages were dropped":                          {LogMessages: 40},
		"3 notices of changes were dropped":                     {Notices: 3},
		"40 log messages and 3 notices of changes were dropped": {LogMessages: 40, Notices: 3},
	} {
		got := newTeller("").lines(&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Dropped{Dropped: dropped}})
		if len(got) != 1 || got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestEscape: no text of a server can move the cursor, ring the bell, reverse the direction of text or be invisible.
func TestEscape(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain Zürich 日本", "plain Zürich 日本"},
		{"a\x1b[31mb\x07\r\n", `a\x1b[31mb\a\r\n`},
		{"a\u202eb\u009bc", `a\u202eb\u009bc`},
		{"bad\xff", "bad\uFFFD"},
		// Finding C9: what cannot be seen.
		{"pay\u200bpal \u00ad\ufeff\u2060", `pay\u200bpal \u00ad\ufeff\u2060`},
		{"a\u3164c\u2028d\U000e0041", `a\u3164c\u2028d\U000e0041`},
		{"pay\u200dpal \u200c", `pay\u200dpal \u200c`},
		{"👩\u200d💻 می\u200cخواهم क्\u200dष", "👩\u200d💻 می\u200cخواهم क्\u200dष"},
	}
	for _, test := range tests {
		if got := escape(test.in); got != test.want {
			t.Errorf("escape(%q) = %q, want %q", test.in, got, test.want)
		}
	}
	if got := escapeBut("a\tb\n\x1b", "\n\t"); got != "a\tb\n"+`\x1b` {
		t.Errorf("escapeBut keeps %q", got)
	}
}

// TestJSONLine: one line, no blanks that vary, no HTML escapes, and JSON text of a server as it came.
func TestJSONLine(t *testing.T) {
	got := string(jsonLine(&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestCancelled{
		McpRequestCancelled: &mcphubv1.McpRequestCancelled{RequestId: "r<1>", WireIdJson: ` "a b" `},
	}}))
	want := `{"mcpRequestCancelled":{"requestId":"r<1>","wireIdJson":" \"a b\" "}}`
	if got != want {
		t.Errorf("line %s, want %s", got, want)
	}
	var out bytes.Buffer
	printErrorLine(&output{w: &out}, &failure{Code: "NOT_FOUND", Reason: "SERVER_NOT_FOUND", Message: "no <x>"})
	if want := `{"error":{"code":"NOT_FOUND","reason":"SERVER_NOT_FOUND","message":"no <x>"}}` +
		"\n"; out.String() != want {
		t.Errorf("error line %s, want %s", out.String(), want)
	}
}

func TestResultText(t *testing.T) {
	tests := []struct {
		result, text string
		others       int
	}{
		{`{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":""}]}`, "a\n", 1},
		{`{"content":[{"type":"text","text":""}]}`, "", 0},
		{`{"content":[], "structuredContent":{"n":1.0}}`, `{"content":[], "structuredContent":{"n":1.0}}`, 0},
		{`{"content":"odd"}`, `{"content":"odd"}`, 0},
	}
	for _, test := range tests {
		text, others := answerText(toolAnswer(test.result))
		if text != test.text || len(others) != test.others {
			t.Errorf("answerText(%s) = %q, %q; want %q, %d", test.result, text, others, test.text, test.others)
		}
	}
}

// TestServerRows: a row names a process by its program, a server behind a URL by its address and transport, and a
// broken entry by its problem. Where they matter, it has the scope of the file, whether the server may start, and what
// the hub will do by itself.
func TestServerRows(t *testing.T) {
	now := time.Unix(1e9, 0)
	rows := serverRows([]*mcphubv1.Server{
		{Name: "ok", State: mcphubv1.ServerState_SERVER_STATE_READY, Era: mcphubv1.Era_ERA_LEGACY,
			ProtocolRevision: "2025-11-25",
			Transport:        mcphubv1.ServerTransport_SERVER_TRANSPORT_STDIO, Command: "/usr/bin/srv", ConfigFile: "mcp.json",
			ConfigLine: 3},
		{Name: "far", State: mcphubv1.ServerState_SERVER_STATE_READY, Era: mcphubv1.Era_ERA_MODERN,
			ProtocolRevision: "2026-07-28",
			Transport:        mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP, Url: "https://a.example/mcp",
			SignIn:     mcphubv1.SignInState_SIGN_IN_STATE_SIGNED_IN,
			ConfigFile: "mcp.json", ConfigLine: 5},
		{Name: "locked", State: mcphubv1.ServerState_SERVER_STATE_FAILED, Url: "https://b.example/sse",
			SignIn:     mcphubv1.SignInState_SIGN_IN_STATE_NEEDED,
			ConfigFile: "mcp.json", ConfigLine: 7, LastError: "the sign-in was declined"},
		{Name: "broken", State: mcphubv1.ServerState_SERVER_STATE_BROKEN, ConfigFile: "mcp.json", ConfigLine: 9,
			LastError: "later",
			Problems:  []*mcphubv1.ConfigProblem{{Message: "odd"}, {Key: "command", Message: "is missing", Fatal: true}}},
		{Name: "theirs", State: mcphubv1.ServerState_SERVER_STATE_STOPPED, Command: "npx", ConfigFile: ".mcp.json",
			ConfigLine: 2, ConfigDialect: "portable",
			ConfigScope: "workspace", LaunchConsent: mcphubv1.LaunchConsent_LAUNCH_CONSENT_NEEDED,
			Start: mcphubv1.ServerStart_SERVER_START_EAGER},
		{Name: "no", State: mcphubv1.ServerState_SERVER_STATE_FAILED, ConfigScope: "host", ConfigDialect: "mcpServers",
			LaunchConsent: mcphubv1.LaunchConsent_LAUNCH_CONSENT_DECLINED, Start: mcphubv1.ServerStart_SERVER_START_LAZY},
		{Name: "falls", State: mcphubv1.ServerState_SERVER_STATE_FAILED, ConfigDialect: "codex", ConfigFile: "config.toml",
			Failures:      3,
			NextStartTime: timestamppb.New(now.Add(4 * time.Second)), LastError: "it ended",
			LastExit: "exit status 3 while running"},
		{Name: "fell", State: mcphubv1.ServerState_SERVER_STATE_FAILED, Failures: 1, LastError: "it ended: exit status 3",
			LastExit:      "exit status 3",
			NextStartTime: timestamppb.New(now.Add(-time.Second))},
	}, now)
	want := [][]string{
		{"ok", "ready", "legacy", "2025-11-25", "stdio", "srv", "mcp.json:3", "-"},
		{"far", "ready, signed in", "modern", "2026-07-28", "http", "https://a.example/mcp", "mcp.json:5", "-"},
		{"locked", "failed, not signed in", "-", "-", "-", "https://b.example/sse", "mcp.json:7", "the sign-in was declined"},
		{"broken", "broken", "-", "-", "-", "-", "mcp.json:9", "command: is missing (and 2 more)"},
		{"theirs", "stopped, asks before it starts, eager", "-", "-", "-", "npx", ".mcp.json:2 (portable, workspace)", "-"},
		{"no", "failed, start declined", "-", "-", "-", "-", "-", "-"},
		{"falls", "failed, 3 failures, next start in 4s", "-", "-", "-", "-", "config.toml (codex)", "it ended (and 1 more)"},
		{"fell", "failed, 1 failure, next start in 0s", "-", "-", "-", "-", "-", "it ended: exit status 3"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProblemLine(t *testing.T) {
	got := problemLine(&mcphubv1.ConfigProblem{File: "mcp.json", Line: 3, Column: 7,
		Server: "a", Key: "args", Message: "is no array", Fatal: true})
	if want := `mcp.json:3:7: error: server "a": key "args": is no array`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// full is a writer that has room for that many bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if len(p) > int(*f) {
		return 0, errors.New("no space left on device")
	}
	*f -= full(len(p))
	return len(p), nil
}

// A command whose output cannot be written fails, and nothing is written after the part that was lost.
func TestLostOutputIsAFailure(t *testing.T) {
	var stderr strings.Builder
	room := full(10)
	if status := run([]string{"version"}, printing(&room, &stderr)); status != exitServer {
		t.Errorf("exit status %d", status)
	}
	if !strings.Contains(stderr.String(), "the output could not be written: no space left on device") {
		t.Errorf("stderr %q", stderr.String())
	}
	p := inBubbles(t)
	line, _ := p.demoServer()
	for _, args := range [][]string{ // finding D7
		{"help"}, {"help", "call"}, {"call", "--help"}, {"completion", "bash"}, {"docs", "markdown"}, {"config", "places"},
		{"config", "places", "--json"}, {"tools", "--stdio", line},
		{"call", "--stdio", line, "--tool", "echo", "--args", `{"text":"x"}`, "--approve", "allow"},
	} {
		p.stdout = new(full)
		if r := p.run(args...); r.status != exitServer || !strings.Contains(r.stderr, "the output could not be written: ") {
			t.Errorf("mcphub %q: status %d\n%s", args, r.status, r.stderr)
		}
	}
	room = full(3)
	o := &output{w: &room}
	fmt.Fprint(o, "abcd")
	fmt.Fprint(o, "ab")
	if o.failed() == nil || room != 3 {
		t.Errorf("failed %v, room %d", o.failed(), room)
	}
}
