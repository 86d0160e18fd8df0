//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// example builds the program of docs/embedding.md.
func (p *place) example() string {
	p.t.Helper()
	program := p.file("example")
	if out, err := exec.Command("go", "build", "-o", program,
		"github.com/mcphub-go/mcphub/plugin/host/example").CombinedOutput(); err != nil {
		p.t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// TestExampleInAUsedHome: in the home of a user for whom a program has written the entry, the yes of the example
// counts, and the call ends.
func TestExampleInAUsedHome(t *testing.T) {
	p := newPlace(t)
	file := p.file("mcp.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := p.spawnStateful()
	sources := []*mcphubv1.ConfigSource{{Path: file, Scope: "workspace"}}
	if _, err := d.Servers.ReloadConfig(d.ctx, &mcphubv1.ReloadConfigRequest{Sources: sources}); err != nil {
		t.Fatal(err)
	}
	entry, err := json.Marshal(p.demo("legacy"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Configs.AddServer(d.ctx, &mcphubv1.AddServerRequest{Server: "demo", ConfigFile: file,
		WrittenBy: "Some Program", Entry: &mcphubv1.AddServerRequest_EntryJson{EntryJson: string(entry)}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the example did not end"))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.example(), file, "demo", "echo", `{"text":"from a used home"}`)
	cmd.WaitDelay = faketime.Long
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), handshake.EnvStateDir+"="+p.file("state"),
		"PATH="+p.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdin = strings.NewReader("y\ny\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"text":"from a used home"`) ||
		!strings.Contains(string(out), "Some Program") {
		t.Errorf("it ended with %v:\n%s", err, out)
	}
}

// TestExampleOfAHost: the program of docs/embedding.md asks before it starts a server and before it calls a tool,
// cancels on an interrupt, and leaves no process.
func TestExampleOfAHost(t *testing.T) {
	p := newPlace(t)
	program := p.example()
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
