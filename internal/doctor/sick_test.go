package doctor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// sickVariable makes the test binary a server with the faults that it names, separated by commas.
const sickVariable = "MCPHUB_DOCTOR_SICK"

func TestMain(m *testing.M) {
	if ailments, sick := os.LookupEnv(sickVariable); sick {
		serveSick(ailments)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveSick is a server written by hand, with faults that no SDK allows.
func serveSick(ailments string) {
	has := func(name string) bool { return strings.Contains(","+ailments+",", ","+name+",") }
	if has("noise") {
		fmt.Println("Server listening on stdio")
	}
	var open, token json.RawMessage // the id of a call that is not answered, and its progress token
	progress := func(n int) {
		fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`+"\n",
			token, n)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Meta struct {
					Token json.RawMessage `json:"progressToken"`
				} `json:"_meta"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			continue
		}
		answer := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result) }
		switch {
		case m.Method == "initialize" && has("mute"):
		case m.Method == "initialize" && has("dies"):
			fmt.Fprintln(os.Stderr, "starting\nError: TOKEN is not set\n    at main (index.js:3:9)\n\nNode.js v20.1.0")
			os.Exit(1)
		case m.Method == "tools/list" && has("latin1"):
			answer(`{"tools":[{"name":"menu","description":"Caf` + "\xe9" +
				`","inputSchema":{"type":"object","properties":{}}}]}`)
		case m.Method == "tools/call" && has("picky"):
			answer(`{"isError":true,"content":[{"type":"text","text":"path: no such folder"}]}`)
		case m.Method == "initialize" && has("lists"):
			answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},` +
				`"serverInfo":{"name":"sick","version":"1"}}`)
		case m.Method == "prompts/list" && has("lists"):
			answer(`{"prompts":[{"name":"p"}],"nextCursor":"round"}`)
		case m.Method == "resources/list" && has("lists"):
			answer(`{"resources":[{"uri":"x:1","name":"x"},{"uri":"x:1","name":"y"}]}`)
		case m.Method == "initialize":
			answer(
				`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},` +
					`"serverInfo":{"name":"sick","version":"1"}}`)
		case m.Method == "tools/list":
			answer(`{"tools":[{"name":"wait here","inputSchema":{"type":"object","anyOf":[]}},` +
				`{"name":"list","description":"x","inputSchema":{"type":"object","properties":{"a":{"type":"array"}}}}]}`)
		case m.Method == "resources/list":
			answer(`{"resources":[{"uri":"x:1","name":"x"}]}`)
		case m.Method == "ping":
			answer(`{}`)
		case m.Method == "notifications/cancelled" && has("fragile"):
			os.Exit(3)
		case m.Method == "notifications/cancelled" && has("deaf") && open != nil:
			m.ID, open = open, nil
			answer(`{"content":[]}`)
		case m.Method == "notifications/cancelled" && has("late") && open != nil:
			open = nil // a server that reads the cancel only now
			for n := range 6 {
				<-time.NewTimer(50 * time.Millisecond).C
				progress(n + 2)
			}
		case m.Method == "tools/call" && (has("deaf") || has("late")):
			if open, token = m.ID, m.Params.Meta.Token; has("late") {
				progress(1)
			}
		case strings.HasPrefix(m.Method, "notifications/"), has("silent"):
		case m.ID != nil:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`+"\n", m.ID)
		}
	}
	if has("stays") {
		if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
			_, _ = l.Accept() // blocks until the process is killed: no client connects
		}
	}
}

func sick(t *testing.T, ailments string) Way {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Way{Transport: Stdio, Command: process.Command{Path: self, Env: append(os.Environ(),
		sickVariable+"="+ailments)}}
}

// sickServer is what is to be found of a server with these ailments.
type sickServer struct {
	ailments, tool string
	plain, legacy  map[string]Level
}

func TestSickServers(t *testing.T) {
	t.Parallel()
	diagnosed(t, faketime.Long, []sickServer{
		{"noise", "", map[string]Level{"start.stdout": Mend, "end.stdin": Good},
			map[string]Level{"capability.tools": Good, "capability.prompts": Mend, "capability.undeclared": Improve,
				"tool.name": Mend, "tool.description": Improve, "tool.schema": Mend, "tool.annotations": Improve,
				"era.unknown": Good, "cancel.unknown": Good}},
		{"deaf", "list", nil, map[string]Level{"cancel.stop": Mend, "cancel.answer": Improve, "cancel.next": Good}},
		// On a busy machine a server may read the cancel late. Progress that it sends until then is no fault.
		{"late", "list", nil, map[string]Level{"cancel.stop": Good, "cancel.next": Good}},
	})
}

// TestSickServersThatAreWaitedFor_nightly: the doctor waits for answers that do not come, and for exits.
func TestSickServersThatAreWaitedFor_nightly(t *testing.T) {
	t.Parallel()
	diagnosed(t, 10*time.Second, []sickServer{
		{"silent,fragile", "", nil, map[string]Level{"era.unknown": Mend, "cancel.unknown": Mend}},
		{"stays", "", map[string]Level{"end.stdin": Mend, "end.sigterm": Good}, nil},
	})
}

func diagnosed(t *testing.T, patience time.Duration, servers []sickServer) {
	for _, c := range servers {
		t.Run(c.ailments, func(t *testing.T) {
			t.Parallel()
			r := examined(t, sick(t, c.ailments), c.tool, "{}", patience)
			holds(t, r, "", c.plain)
			holds(t, r, mcp.EraLegacy, c.legacy)
			for _, f := range r.Findings {
				if asks := f.Level == Mend || f.Level == Improve; f.Do != "" && !asks || asks && f.Do != checks[f.Check].do {
					t.Errorf("%s is %s and says what to do: %q", f.Check, f.Level, f.Do)
				}
			}
		})
	}
}

// what returns the first finding of a check, and "" if there is none.
func what(r *Report, check string) (seen, do string) {
	for _, f := range r.Findings {
		if f.Check == check {
			return f.Seen, f.Do
		}
	}
	return "", ""
}

// A call that fails before it is cancelled is no fault of a cancel: the tool's own error is told, and nothing is asked
// of the server's author.
func TestToolThatFails(t *testing.T) {
	t.Parallel()
	r := examined(t, sick(t, "picky"), "list", "{}", faketime.Long)
	holds(t, r, mcp.EraLegacy, map[string]Level{"cancel.stop": Note, "cancel.next": ""})
	if seen, _ := what(r, "cancel.stop"); !strings.Contains(seen, "path: no such folder") || r.Calls != 1 {
		t.Errorf("%d calls: %s", r.Calls, seen)
	}
}

// Why a server ended is told in the line that a call would tell, and not in the last one.
func TestWhyAServerEnded(t *testing.T) {
	t.Parallel()
	r := examined(t, sick(t, "dies"), "", "{}", faketime.Long)
	if seen, do := what(r, "start.ready"); !strings.Contains(seen, "it says on stderr: Error: TOKEN is not set;") ||
		!strings.Contains(do, "by hand") {
		t.Errorf("%s; %s", seen, do)
	}
}

// Text that is not UTF-8 is no JSON, and clients replace or drop it.
func TestLatin1(t *testing.T) {
	t.Parallel()
	r := examined(t, sick(t, "latin1"), "", "{}", faketime.Long)
	holds(t, r, "", map[string]Level{"start.utf8": Mend})
	if seen, _ := what(r, "start.utf8"); !strings.Contains(seen, `Caf\xe9`) {
		t.Error(seen)
	}
	if seen, _ := what(examined(t, sick(t, ""), "", "{}", faketime.Long), "start.utf8"); seen != "" {
		t.Errorf("of a sound server: %s", seen)
	}
}

// A tool that the server does not have is the mistake of who has typed its name.
func TestMistypedTool(t *testing.T) {
	t.Parallel()
	r, err := Examine(context.Background(), Target{Name: "x", Way: sick(t, "")},
		Options{Patience: faketime.Long, Connect: faketime.Long, Tool: "lst"})
	e, ok := errors.AsType[*NoToolError](err)
	if !ok || !slices.Equal(e.Tools, []string{"wait here", "list"}) || r.Calls != 0 {
		t.Errorf("%d calls, error %v", r.Calls, err)
	}
}

// A server that never answers costs the patience of only one start, and is one finding.
func TestMuteServer(t *testing.T) {
	t.Parallel()
	r, err := Examine(context.Background(), Target{Name: "x", Way: sick(t, "mute")},
		Options{Connect: time.Second, Patience: faketime.Long})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, r, mcp.EraLegacy, map[string]Level{"start.ready": Mend})
	const want = "initialize failed: it was not ready within 1s, which --connect-timeout sets"
	if seen, _ := what(r, "start.ready"); seen != want {
		t.Error(seen)
	}
	if r.Worst() != Mend {
		t.Errorf("the worst is %q", r.Worst())
	}
}

// When the user gives up, the examination ends with the cause, and the report has the findings so far.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	r, err := Examine(ctx, Target{Name: "x", Way: sick(t, "")}, Options{
		Patience: faketime.Long, Connect: faketime.Long,
		Doing: func(text string) {
			if strings.Contains(text, "capabilities") {
				cancel(enough)
			}
		}})
	if !errors.Is(err, enough) {
		t.Errorf("error %v, want the cause", err)
	}
	holds(t, r, mcp.EraLegacy, map[string]Level{"start.time": measured}) // what was found before
}

// No text of the report contains secrets of the target.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	w := sick(t, "noise")
	r, err := Examine(context.Background(), Target{Name: "x", Way: w, Hide: func(text string) string {
		return strings.ReplaceAll(text, "listening", "[hidden]")
	}}, Options{Patience: faketime.Long, Connect: faketime.Long})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), "[hidden]") || strings.Contains(string(text), "listening") {
		t.Errorf("the report: %s, %v", text, err)
	}
}
