package trace_test

import (
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const traceOfTests = `{"requestId":"r1","server":"s\u001b[31m","direction":"REQUEST_DIRECTION_OUTGOING","method":"tools/call","tool":"echo","state":"REQUEST_STATE_CANCELLED"}`

var bundleOfTests = `{"version":"1.2.3","goVersion":"go1.26","os":"linux","arch":"amd64","hubId":"H","uptimeSeconds":1.5,"unknown":{},
"core":["hub h","Drained","  \u001b"],
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
	p := clitest.Inside(t)
	file := p.Config("bundle.json", bundleOfTests)
	if r := p.Run("trace", file); r.Status != 0 || r.Stdout != shownOfTests || r.Stderr != "" {
		t.Errorf("status %d, %s\n%s", r.Status, r.Stderr, r.Stdout)
	}
	if r := p.Run("trace", "--json", file); r.Status != 0 || r.Stdout != bundleOfTests+"\n" {
		t.Errorf("status %d, %s\n%s", r.Status, r.Stderr, r.Stdout)
	}
	if r := p.Run("trace", "--core", file); r.Status != 0 || r.Stdout != "hub h\nDrained\n  \\x1b\n" {
		t.Errorf("status %d, %s\n%s", r.Status, r.Stderr, r.Stdout)
	}
	trace := new(mcphubv1.Trace)
	if err := protojson.Unmarshal([]byte(`{"request":`+traceOfTests+`}`), trace); err != nil {
		t.Fatal(err)
	}
	answer, err := protojson.Marshal(&mcphubv1.GetTraceResponse{Traces: []*mcphubv1.Trace{trace}})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Run("trace", p.Config("answer.json", string(answer))); r.Status != 0 ||
		!strings.Contains(r.Stdout, "nothing was noted") {
		t.Errorf("status %d, %s\n%s", r.Status, r.Stderr, r.Stdout)
	}
	answer, err = protojson.Marshal(&mcphubv1.GetTraceResponse{BundleJson: bundleOfTests})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Run("trace", p.Config("both.json", string(answer))); r.Status != 0 || r.Stdout != shownOfTests {
		t.Errorf("status %d, %s\n%s", r.Status, r.Stderr, r.Stdout)
	}
	if r := p.Run("trace", p.Config("empty.json", `{"hubId":"H","traces":[]}`)); r.Status != 0 ||
		!strings.Contains(r.Stdout, "no timelines") {
		t.Errorf("status %d, %s\n%s", r.Status, r.Stderr, r.Stdout)
	}
	if r := p.Run("trace", "--core", p.Config("empty.json", `{"hubId":"H","traces":[]}`)); r.Status != 2 ||
		!strings.Contains(r.Stderr, "no record of the core") {
		t.Errorf("status %d, %s\n%s", r.Status, r.Stderr, r.Stdout)
	}
	for _, bad := range []struct{ name, text, want string }{
		{"no JSON", "hello", "no JSON object with timelines"},
		{"an array", `[]`, "no JSON object with timelines"},
		{"something else", `{"a":1}`, `has no "traces"`},
		{"no timelines", `{"traces":7}`, "no JSON object with timelines"},
		{"a bad timeline", `{"traces":[{},{"entries":7}]}`, "timeline 2"},
		{"a bad bundle", `{"bundleJson":"{"}`, "bundleJson"},
	} {
		if r := p.Run("trace", p.Config("bad.json", bad.text)); r.Status != 2 || r.Stdout != "" ||
			!strings.Contains(r.Stderr, bad.want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q", bad.name, r.Status, r.Stdout, r.Stderr)
		}
	}
	for _, args := range [][]string{{"trace"}, {"trace", filepath.Join(p.Folder, "none.json")}, {"trace", p.Folder}} {
		if r := p.Run(args...); r.Status != 2 || r.Stderr == "" {
			t.Errorf("%q: status %d, %s", args, r.Status, r.Stderr)
		}
	}
}
