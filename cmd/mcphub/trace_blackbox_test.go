package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestCallTraceOption: the timeline is written after a result, an error, a cancel and a failure, with the notification
// to the server; only the owner can read it; and it holds neither arguments nor results.
func TestCallTraceOption(t *testing.T) {
	p := inBubbles(t)
	line, _ := p.demoServer()
	tests := []struct {
		name   string
		args   []string
		status int
		want   []string
	}{
		{"result", []string{"--tool", "echo", "--args", `{"text":"SECRET"}`}, 0,
			[]string{"running", "-> request  tools/call  id ", "<- response  tools/call  id ", "done", "in all"}},
		{"cancelled", []string{"--tool", "sleep", "--args", `{"seconds":60,"steps":60}`, "--cancel-after", "2s", "--reason",
			"enough"}, 3, []string{"<- notification  notifications/progress", `cancelled by user: "enough"`,
			"-> notification  notifications/cancelled", "error CANCELLED"}},
		{"crash", []string{"--tool", "crash"}, 6, []string{"error SERVER_GONE", "failed"}},
	}
	for _, test := range tests {
		file := filepath.Join(t.TempDir(), "trace.json")
		if err := os.WriteFile(file, []byte("an older one"), 0o644); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"call", "--stdio", line, "--approve", "allow", "--request-id", "r1", "--trace", file},
			test.args...)
		if r := p.run(args...); r.status != test.status {
			t.Fatalf("%s: status %d, want %d\n%s", test.name, r.status, test.status, r.stderr)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if strings.Contains(string(text), "SECRET") {
			t.Errorf("content: %s", text)
		}
		var b struct {
			Version string
			Servers []struct{ Name, State string }
			Traces  []json.RawMessage
		}
		if err := json.Unmarshal(text, &b); err != nil || b.Version != version || len(b.Traces) != 1 || len(b.Servers) != 1 {
			t.Fatalf("%v: %s", err, text)
		}
		shown := p.run("trace", file)
		if shown.status != 0 {
			t.Errorf("status %d: %s", shown.status, shown.stderr)
		}
		for _, want := range append(test.want, "r1  tools/call "+test.args[1]+" on stdio: ", "mcphub "+
			version, "server stdio: ") {
			if !strings.Contains(shown.stdout, want) {
				t.Errorf("%s: mcphub trace does not show %q:\n%s", test.name, want, shown.stdout)
			}
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".mcphub-trace-*")); len(left) != 0 || err != nil {
			t.Errorf("left over: %v, %v", left, err)
		}
	}
	r := p.run("call", "--stdio", line, "--tool", "echo", "--trace", t.TempDir())
	if r.status != 2 || !strings.Contains(r.stderr, "is no regular file") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
	r = p.run("call", "--stdio", line, "--tool", "echo", "--trace", filepath.Join(t.TempDir(), "none", "t.json"))
	if r.status != 2 || !strings.Contains(r.stderr, "--trace") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
}

const traceOfTests = `{"requestId":"r1","server":"s\u001b[31m","direction":"REQUEST_DIRECTION_OUTGOING","method":"tools/call","tool":"echo","state":"REQUEST_STATE_CANCELLED"}`

var bundleOfTests = `{"version":"1.2.3","goVersion":"go1.26","os":"linux","arch":"amd64","hubId":"H","uptimeSeconds":1.5,"unknown":{},
"servers":[{"name":"s","state":"ready","transport":"stdio","era":"legacy","revision":"2025-11-25"}],
"traces":[{"request":` + traceOfTests + `,"omittedEntries":7,"traceId":"abc","later":1,"entries":[
{"time":"2026-01-01T00:00:00Z","state":{"state":"REQUEST_STATE_QUEUED"}},
{"time":"2026-01-01T00:00:00.0015Z","message":{"direction":"REQUEST_DIRECTION_OUTGOING","type":"request","method":"tools/call","wireIdJson":"2","sizeBytes":"120"}},
{"time":"2026-01-01T00:00:02Z","message":{"direction":"REQUEST_DIRECTION_INCOMING","type":"notification","method":"notifications/progress","sizeBytes":"50"}},
{"time":"2026-01-01T00:00:02.1Z","cancellation":{"origin":"ORIGIN_USER","reason":"no \u001b"}},
{"time":"2026-01-01T00:00:02.1Z","prompt":{"promptId":"prompt-1","kind":"PROMPT_KIND_SAMPLING"}},
{"time":"2026-01-01T00:00:02.2Z","prompt":{"promptId":"prompt-1","kind":"PROMPT_KIND_SAMPLING","cause":"PROMPT_CAUSE_PARENT"}},
{"time":"2026-01-01T00:00:02.3Z","hubError":{"reason":"CANCELLED","message":"cancelled; the server may go on"}},
{"time":"2026-01-01T00:00:02.4Z","message":{"direction":"REQUEST_DIRECTION_INCOMING","type":"error","method":"tools/call","wireIdJson":"2","sizeBytes":"60","errorCode":"-32000","dropped":true}},
{"time":"2026-01-01T00:00:02.5Z","message":{"direction":"REQUEST_DIRECTION_OUTGOING","type":"response","method":"elicitation/create","wireIdJson":"9","dropped":true}}]}]}`

const shownOfTests = `mcphub 1.2.3 (go1.26, linux/amd64), hub H, up 1.5s
server s: ready, stdio, legacy, 2025-11-25

r1  tools/call echo on s\x1b[31m: cancelled
  trace abc
  began 2026-01-01T00:00:00Z
      0.000 ms     queued
      1.500 ms  -> request  tools/call  id 2  120 bytes
                (7 more are left out, about here)
   2000.000 ms  <- notification  notifications/progress  50 bytes
   2100.000 ms     cancelled by user: "no \x1b"
   2100.000 ms     prompt-1 sampling opened
   2200.000 ms     prompt-1 sampling closed: parent
   2300.000 ms     error CANCELLED: cancelled; the server may go on
   2400.000 ms  <- error  tools/call  id 2  code -32000  60 bytes  dropped
   2500.000 ms  -> response  elicitation/create  id 9  not written: it was withdrawn
   2500.000 ms  in all
`

func TestTraceCommand(t *testing.T) {
	p := inside(t)
	file := p.config("bundle.json", bundleOfTests)
	if r := p.run("trace", file); r.status != 0 || r.stdout != shownOfTests || r.stderr != "" {
		t.Errorf("status %d, %s\n%s", r.status, r.stderr, r.stdout)
	}
	if r := p.run("trace", "--json", file); r.status != 0 || r.stdout != bundleOfTests+"\n" {
		t.Errorf("status %d, %s\n%s", r.status, r.stderr, r.stdout)
	}
	trace := new(mcphubv1.Trace)
	if err := protojson.Unmarshal([]byte(`{"request":`+traceOfTests+`}`), trace); err != nil {
		t.Fatal(err)
	}
	answer, err := protojson.Marshal(&mcphubv1.GetTraceResponse{Traces: []*mcphubv1.Trace{trace}})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.run("trace", p.config("answer.json", string(answer))); r.status != 0 ||
		!strings.Contains(r.stdout, "nothing was noted") {
		t.Errorf("status %d, %s\n%s", r.status, r.stderr, r.stdout)
	}
	answer, err = protojson.Marshal(&mcphubv1.GetTraceResponse{BundleJson: bundleOfTests})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.run("trace", p.config("both.json", string(answer))); r.status != 0 || r.stdout != shownOfTests {
		t.Errorf("status %d, %s\n%s", r.status, r.stderr, r.stdout)
	}
	if r := p.run("trace", p.config("empty.json", `{"hubId":"H","traces":[]}`)); r.status != 0 ||
		!strings.Contains(r.stdout, "no timelines") {
		t.Errorf("status %d, %s\n%s", r.status, r.stderr, r.stdout)
	}
	for _, bad := range []struct{ name, text, want string }{
		{"no JSON", "hello", "no JSON object with timelines"},
		{"an array", `[]`, "no JSON object with timelines"},
		{"something else", `{"a":1}`, `has no "traces"`},
		{"no timelines", `{"traces":7}`, "no JSON object with timelines"},
		{"a bad timeline", `{"traces":[{},{"entries":7}]}`, "timeline 2"},
		{"a bad bundle", `{"bundleJson":"{"}`, "bundleJson"},
	} {
		if r := p.run("trace", p.config("bad.json", bad.text)); r.status != 2 || r.stdout != "" ||
			!strings.Contains(r.stderr, bad.want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q", bad.name, r.status, r.stdout, r.stderr)
		}
	}
	for _, args := range [][]string{{"trace"}, {"trace", filepath.Join(p.dir, "none.json")}, {"trace", p.dir}} {
		if r := p.run(args...); r.status != 2 || r.stderr == "" {
			t.Errorf("%q: status %d, %s", args, r.status, r.stderr)
		}
	}
}
