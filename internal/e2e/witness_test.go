//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// beWitness is the server process `witness FILE`, which records every signal and everything that it reads.
func beWitness(args []string) int {
	file, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "witness:", err)
		return 1
	}
	note := func(line string) { _, _ = file.WriteString(line + "\n") } // one write, so whole
	signals := make(chan os.Signal, 16)
	signal.Notify(signals)
	go func() { // ends with the process
		for s := range signals {
			if s != syscall.SIGURG { // the Go runtime's own, for preemption
				note("signal " + s.String())
			}
		}
	}()
	s := fakeserver.New()
	addTools(s)
	if err := s.Serve(context.Background(), &notedReader{os.Stdin, note}, os.Stdout); err != nil {
		return 1
	}
	return 0
}

// notedReader records what is read, and the end.
type notedReader struct {
	io.Reader
	note func(string)
}

func (r *notedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n > 0 {
		r.note(fmt.Sprintf("read %q", b[:n]))
	}
	if err != nil {
		r.note("read " + err.Error())
	}
	return n, err
}

// TestReloadWithNoChange: a reload that changes nothing about a server sends it no signal and no byte; nor does one
// that changes only settings that concern the hub alone.
func TestReloadWithNoChange(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := servers{}
	const witnesses = 3
	for i := range witnesses {
		name := fmt.Sprintf("w%d", i)
		s[name] = entry{Command: p.peer, Args: []string{"witness", p.file(name + ".log")}, Dir: p.dir, Env: atOnce,
			Approvals: allowAll}
	}
	p.write(s)
	d := p.spawnStateful()
	w := d.window("side bar")
	d.read(p, "user")
	seen := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(p.file(name + ".log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before, pids := map[string]string{}, map[string]int32{}
	for name := range s {
		pids[name] = d.start(name).GetProcessId()
		d.echoes(name, "before")
		before[name] = seen(name)
		if !strings.Contains(before[name], "before") {
			t.Fatalf("the record of %s lacks the first call: %s", name, before[name])
		}
	}

	const reloads = 8
	sources := []*mcphubv1.ConfigSource{{Path: p.file("mcp.json"), Scope: "user", Folder: p.dir}}
	for i := range reloads {
		switch i % 4 {
		case 0: // the same as last time
			if _, err := d.Servers.ReloadConfig(d.ctx, &mcphubv1.ReloadConfigRequest{}); err != nil {
				t.Fatal(err)
			}
		case 1: // the same once more, from two sides
			var both sync.WaitGroup
			errs := make([]error, 2)
			for j := range errs {
				both.Go(func() { _, errs[j] = d.Servers.ReloadConfig(d.ctx, &mcphubv1.ReloadConfigRequest{Sources: sources}) })
			}
			both.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
		case 2: // saved with nothing but blank lines changed: the watch finds it
			p.writeText(strings.Repeat("\n", i) + s.config())
		case 3: // approvals and timeouts are the hub's own
			for name, e := range s {
				e.Approvals = map[string]string{"*": "allow", fmt.Sprintf("tool-%d", i): "deny"}
				e.Timeouts = map[string]string{"idle": fmt.Sprintf("%dm", 10+i)}
				s[name] = e
			}
			p.write(s)
		}
		if i%4 > 1 {
			found := 0
			w.WaitEvent("the reload", func(e *mcphubv1.AttachResponse) bool {
				if e.GetConfigReloaded().GetChangedFile() != "" {
					found++
				}
				return found == i/4*2+i%4-1
			})
		}
	}

	for name := range s {
		if now := d.server(name); now.GetProcessId() != pids[name] || now.GetState() != ready {
			t.Errorf("server %s is %v", name, now)
		}
		// Whatever else was sent stands before these in the file.
		if err := syscall.Kill(int(pids[name]), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		until(t, "the signal is seen", func() bool { return strings.Contains(seen(name), "signal user defined signal 1") })
		d.echoes(name, "after")
		news := strings.Split(strings.TrimSpace(strings.TrimPrefix(seen(name), before[name])), "\n")
		if len(news) != 2 || news[0] != "signal user defined signal 1" || !strings.Contains(news[1], "tools/call") ||
			strings.Count(news[1], `jsonrpc`) != 1 {
			t.Errorf("%d reloads with no change have cost server %s:\n%s", reloads, name, strings.Join(news, "\n"))
		}
	}
}
