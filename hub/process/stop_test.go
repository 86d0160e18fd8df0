//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStopStages_real(t *testing.T) {
	patient := Grace{Stdin: short.Stdin, Terminate: generous.Terminate, Kill: generous.Kill}
	tests := []struct {
		mode  string
		grace Grace
		want  Exit
	}{
		// Generous graces: the stage ends because the child does.
		{"exit-on-eof", generous, Exit{Code: 0, Stage: StageStdin, Group: StageStdin}},
		{"ignore-eof", Grace{Stdin: -1, Terminate: generous.Terminate, Kill: generous.Kill},
			Exit{Code: 7, Stage: StageTerminated, Group: StageTerminated}},
		{"deaf", patient, Exit{Code: -1, Signal: "SIGTERM", Stage: StageTerminated, Group: StageTerminated}},
		{"ignore-term", short, Exit{Code: -1, Signal: "SIGKILL", Stage: StageKilled, Group: StageKilled}},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			p := start(t, tt.mode, withGrace(tt.grace))
			ready(t, p.Stdout())
			tt.want.Why = "no longer needed"
			if diff := cmp.Diff(tt.want, p.Stop("no longer needed")); diff != "" {
				t.Error(diff)
			}
			if alive(p.PID()) {
				t.Error("the child lives on after Stop")
			}
			if got := p.Stop("again"); got.Why != "no longer needed" {
				t.Errorf("a second Stop gives %q", got.Why)
			}
		})
	}
}

func TestKillSkipsStages_real(t *testing.T) {
	t.Run("at once", func(t *testing.T) {
		p := start(t, "ignore-eof", withGrace(generous))
		ready(t, p.Stdout())
		if e := p.Kill("now"); e.Stage != StageKilled || e.Signal != "SIGKILL" || e.Why != "now" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("during a stop", func(t *testing.T) {
		p := start(t, "ignore-term", withGrace(generous))
		ready(t, p.Stdout())
		first := make(chan Exit, 1)
		go func() { first <- p.Stop("politely") }()
		<-p.stopping // the first stop is under way
		e := p.Kill("time is up")
		if e.Stage != StageKilled || e.Why != "politely" {
			t.Errorf("got %+v", e)
		}
		if got := <-first; got != e {
			t.Errorf("Stop gives %+v, Kill gives %+v", got, e)
		}
	})
}

func TestGrandchildrenGone_real(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, mode string
		stop       bool
		want       Exit
	}{
		{"after stop", "spawn-grandchild", true, Exit{Stage: StageStdin, Group: StageKilled, Why: "enough"}},
		{"after exit of its own", "spawn-grandchild-and-exit", false, Exit{Stage: StageExited, Group: StageKilled}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, tt.mode, withGrace(Grace{Stdin: generous.Stdin, Terminate: short.Terminate, Kill: short.Kill}))
			grandchild := ready(t, p.Stdout())
			if !tt.stop {
				within(t, p.Done(), "Done of a child that exited on its own")
			} else {
				if !alive(grandchild) {
					t.Fatal("the grandchild was gone too early")
				}
				p.Stop("enough")
			}
			if alive(grandchild) { // no waiting: Done promises it
				t.Error("the grandchild lives on after Done")
			}
			if diff := cmp.Diff(tt.want, p.Exit()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Without a Containment, a process that left the group is not killed; it must not delay Stop or the end of stdout.
func TestEscapedProcessHoldsNothingUp_real(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"spawn-daemon", "spawn-stdout-daemon"} {
		t.Run(mode, func(t *testing.T) {
			p := start(t, mode, withGrace(generous))
			daemon := ready(t, p.Stdout())
			t.Cleanup(func() { _ = syscall.Kill(daemon, syscall.SIGKILL); gone(t, daemon) })
			e := p.Stop("enough")
			if e.Stage != StageStdin || e.Group != StageStdin {
				t.Errorf("got %+v", e)
			}
			if !alive(daemon) {
				t.Fatal("the daemon is gone: the test shows nothing")
			}
			rest, err := io.ReadAll(p.Stdout())
			if err != nil {
				t.Error(err)
			}
			if mode == "spawn-stdout-daemon" && string(rest) != "last words\n" {
				t.Errorf("read %q", rest)
			}
		})
	}
}

func TestDeafChildDoesNotBlockStop_real(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		name := map[bool]string{false: "deaf", true: "SIGSTOPped"}[stopped]
		t.Run(name, func(t *testing.T) {
			p := start(t, "deaf", withGrace(Grace{Stdin: short.Stdin, Terminate: generous.Terminate, Kill: generous.Kill}))
			ready(t, p.Stdout())
			if stopped {
				if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			fill(t, p)
			wrote := make(chan error, 1)
			go func() {
				_, err := p.Stdin().Write(make([]byte, 1<<20))
				wrote <- err
			}()
			e := p.Stop("deaf")
			if e.Stage != StageTerminated || e.Signal != "SIGTERM" || e.Err != nil {
				t.Errorf("got %+v", e)
			}
			if err := <-wrote; err == nil {
				t.Error("the write to a deaf child succeeded")
			}
			if _, err := p.Stdin().Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
				t.Errorf("write after Stop: %v", err)
			}
		})
	}
}

// fill writes until the pipe takes nothing more.
func fill(t *testing.T, p *Process) int {
	t.Helper()
	total := 0
	for {
		n := writeNow(p.stdin, make([]byte, 64<<10))
		if total += n; n == 0 {
			return total
		}
		if total > 1<<24 {
			t.Fatal("the pipe never fills")
		}
	}
}

// writeNow, by which the hub writes to its guard, never blocks.
func TestWriteNowNeverBlocks_real(t *testing.T) {
	p := start(t, "deaf")
	ready(t, p.Stdout())
	if n := fill(t, p); n == 0 {
		t.Error("nothing was taken")
	}
	if n := writeNow(p.stdin, []byte("x")); n != 0 {
		t.Errorf("full pipe: %d", n)
	}
	dead := start(t, "exit-code-3")
	within(t, dead.Done(), "Done")
	if n := writeNow(dead.stdin, []byte("x")); n != 0 {
		t.Errorf("dead child: %d", n)
	}
}

func TestConcurrentStop_real(t *testing.T) {
	p := start(t, "ignore-eof", withGrace(Grace{Stdin: short.Stdin, Terminate: generous.Terminate, Kill: generous.Kill}))
	ready(t, p.Stdout())
	exits := make(chan Exit, 16)
	var wg sync.WaitGroup
	for i := range cap(exits) {
		wg.Go(func() { exits <- p.Stop(string(rune('a' + i))) })
	}
	wg.Wait()
	close(exits)
	within(t, p.Done(), "Done after Stop")
	want := p.Exit()
	if want.Stage != StageTerminated || want.Code != 7 || len(want.Why) != 1 {
		t.Errorf("got %+v", want)
	}
	for e := range exits {
		if e != want {
			t.Errorf("one caller got %+v, another one %+v", e, want)
		}
	}
}

// Stop and an exit in the same instant: whichever is first, Stop and Exit report the same.
func TestStopRacesExit_real(t *testing.T) {
	for range 30 {
		p := start(t, "exit-code-3")
		e := p.Stop("race")
		switch {
		case e.Stage == StageExited && e.Why == "" && e.Code == 3:
		case e.Stage == StageStdin && e.Why == "race" && e.Code == 3:
		// On a busy machine the process may not have exited by itself when its grace is over.
		case e.Stage == StageTerminated && e.Why == "race" && (e.Code == 3 || e.Signal == "SIGTERM"):
		case e.Stage == StageKilled && e.Why == "race" && (e.Code == 3 || e.Signal == "SIGTERM" || e.Signal == "SIGKILL"):
		default:
			t.Fatalf("got %+v", e)
		}
		if got := p.Exit(); got != e {
			t.Fatalf("Stop gives %+v, Exit gives %+v", e, got)
		}
	}
}
