//go:build unix

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestExampleOfAHost: the program of docs/embedding.md asks before it starts a server and before it calls a tool,
// cancels on an interrupt, and leaves no process.
func TestExampleOfAHost(t *testing.T) {
	p := newPlace(t)
	program := p.file("example")
	if out, err := exec.Command("go", "build", "-o", program,
		"github.com/mcphub-go/mcphub/plugin/host/example").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	config := servers{"demo": asking(p.demo("legacy"))}.config()
	if err := os.WriteFile(p.file("mcp.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	// The end of ctx kills an example that ignores the interrupt.
	ctx, cancel := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the example did not end"))
	defer cancel()
	cmd := exec.CommandContext(ctx, program, p.file("mcp.json"), "demo", "sleep", `{"seconds":600,"steps":1}`)
	cmd.WaitDelay = faketime.Long // a process that outlives the example must not block the test
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), stateless, "PATH="+p.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("y\ny\n"), &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the tool runs", func() bool {
		return slices.ContainsFunc(p.demoEvents(), func(e demoEvent) bool { return e.Event == "started" })
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	for _, want := range []string{"May this be started? y or n\n",
		`May sleep be called with {"seconds":600,"steps":1}? y or n`} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("it did not ask %q:\n%s", want, stdout.String())
		}
	}
	if !strings.Contains(stderr.String(), "CANCELLED: ") {
		t.Errorf("it ended with\n%s", stderr.String())
	}
	if got := p.reasonsHeard(); !slices.Equal(got, []string{"Ctrl+C"}) {
		t.Errorf("the server heard %q", got)
	}
}
