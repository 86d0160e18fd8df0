package call_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/conversation"
)

// TestCallTraceOption: the timeline is written after a result, an error, a cancel and a failure, with the notification
// to the server; only the owner can read it; it holds neither arguments nor results; and a fresh core that is told what
// the hub's core was told orders the same.
func TestCallTraceOption(t *testing.T) {
	p := clitest.InBubbles(t)
	line, _ := p.DemoServer()
	tests := []struct {
		name   string
		args   []string
		status exit.Status
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
		if r := p.Run(args...); r.Status != test.status {
			t.Fatalf("%s: status %d, want %d\n%s", test.name, r.Status, test.status, r.Stderr)
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
			Core    []string
			Traces  []json.RawMessage
		}
		if err := json.Unmarshal(text, &b); err != nil || b.Version != "0.0.0-test" || len(b.Traces) != 1 ||
			len(b.Servers) != 1 {
			t.Fatalf("%v: %s", err, text)
		}
		record := strings.Join(b.Core, "\n") + "\n"
		if again, err := conversation.Play(record, nil); err != nil || again != record ||
			!strings.Contains(record, `RequestMade ID="r1"`) {
			t.Errorf("%s: played again, the core orders something else (-then +now): %v\n%s", test.name, err,
				cmp.Diff(record, again))
		}
		shown := p.Run("trace", file)
		if shown.Status != 0 {
			t.Errorf("status %d: %s", shown.Status, shown.Stderr)
		}
		for _, want := range append(test.want, "r1  tools/call "+test.args[1]+" on stdio: ", "mcphub 0.0.0-test",
			"server stdio: ") {
			if !strings.Contains(shown.Stdout, want) {
				t.Errorf("%s: mcphub trace does not show %q:\n%s", test.name, want, shown.Stdout)
			}
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".mcphub-trace-*")); len(left) != 0 || err != nil {
			t.Errorf("left over: %v, %v", left, err)
		}
	}
	r := p.Run("call", "--stdio", line, "--tool", "echo", "--trace", t.TempDir())
	if r.Status != 2 || !strings.Contains(r.Stderr, "is no regular file") {
		t.Errorf("status %d, %s", r.Status, r.Stderr)
	}
	r = p.Run("call", "--stdio", line, "--tool", "echo", "--trace", filepath.Join(t.TempDir(), "none", "t.json"))
	if r.Status != 2 || !strings.Contains(r.Stderr, "--trace") {
		t.Errorf("status %d, %s", r.Status, r.Stderr)
	}
}
