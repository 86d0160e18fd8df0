//go:build unix

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The states of servers, by shorter names.
const (
	stopped    = mcphubv1.ServerState_SERVER_STATE_STOPPED
	connecting = mcphubv1.ServerState_SERVER_STATE_CONNECTING
	ready      = mcphubv1.ServerState_SERVER_STATE_READY
	stopping   = mcphubv1.ServerState_SERVER_STATE_STOPPING
	failed     = mcphubv1.ServerState_SERVER_STATE_FAILED
	gaveUp     = mcphubv1.ServerState_SERVER_STATE_GIVEN_UP
)

func stopOf(name string) *mcphubv1.StopServerRequest {
	return &mcphubv1.StopServerRequest{Server: name, Reason: "enough"}
}

// siege is a hub with twenty stubborn servers, every fourth with a stray.
type siege struct {
	*door
	p      *place
	w      *fakeeditor.Window
	config servers
	under  sync.WaitGroup // what was begun and is not waited for before the kill
	calls  []*call
}

const (
	besiegers = 20
	// With all servers up: the server and its child each, the strays, the hub and its guard.
	allProcesses = 2*besiegers + besiegers/4 + 2
)

func besieged(t *testing.T) *siege {
	p := newPlace(t)
	s := &siege{p: p, config: servers{}}
	for i := range besiegers {
		name := fmt.Sprintf("s%02d", i)
		e := p.stubborn(name)
		if i%4 == 0 {
			e = p.stubborn(name, "stray")
		}
		e.Start = "eager"
		s.config[name] = e
	}
	s.door = p.spawnStateful()
	s.w = s.window("side bar")
	return s
}

// begin runs something that the kill may interrupt on a goroutine, for which over waits.
func (s *siege) begin(what func(ctx context.Context)) { s.under.Go(func() { what(s.ctx) }) }

func (s *siege) load() {
	s.begin(func(ctx context.Context) {
		_,
			_ = s.Servers.ReloadConfig(ctx,
			&mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: "mcp.json",
				Json: s.config.config()}}})
	})
}

// await waits until n servers have been in a state.
func (s *siege) await(n int, state mcphubv1.ServerState) {
	s.t.Helper()
	seen := map[string]bool{}
	s.w.WaitEvent(fmt.Sprintf("%d servers that are %v", n, state), func(e *mcphubv1.AttachResponse) bool {
		if server := e.GetServerChanged().GetServer(); server.GetState() == state {
			seen[server.GetName()] = true
		}
		return len(seen) == n
	})
}

// allUp waits until all servers are up, with all their processes.
func (s *siege) allUp() {
	s.t.Helper()
	s.load()
	s.await(besiegers, ready)
	until(s.t, "all processes are there", func() bool { return len(s.p.Processes()) == allProcesses })
}

// callAll begins a call on each server, and waits until all of them run.
func (s *siege) callAll() {
	s.t.Helper()
	s.allUp()
	for name := range s.config {
		s.calls = append(s.calls, s.call(name, "hang", ""))
	}
	for _, c := range s.calls {
		s.w.WaitRequest(c.id, running)
	}
}

func (s *siege) cancelAll() {
	s.callAll()
	s.begin(func(ctx context.Context) {
		_,
			_ = s.Hub.CancelRequests(ctx, &mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_All{All: true},
			Reason: "stop"})
	})
}

// drain begins a Drain with calls running.
func (s *siege) drain() {
	s.callAll()
	s.begin(func(ctx context.Context) {
		_, _ = s.Hub.Drain(ctx, &mcphubv1.DrainRequest{Reason: "the editor closes"})
	})
}

// over waits for the end of all that was begun. Its results do not matter, but it must end when the hub does.
func (s *siege) over() {
	s.under.Wait()
	for _, c := range s.calls {
		<-c.over
	}
}

// moments are the points at which a hub is killed. The moment of an event is reached exactly; what follows it is
// interrupted anywhere.
var moments = []struct {
	name  string
	reach func(*siege)
}{
	{"the first server starts", func(s *siege) { s.load(); s.await(1, connecting) }},
	{"four servers start at once", func(s *siege) { s.load(); s.await(4, connecting) }},
	{"the first server is up", func(s *siege) { s.load(); s.await(1, ready) }},
	{"five servers are up", func(s *siege) { s.load(); s.await(5, ready) }},
	{"ten servers are up", func(s *siege) { s.load(); s.await(10, ready) }},
	{"the last server starts", func(s *siege) { s.load(); s.await(besiegers, connecting) }},
	{"the last server is up", func(s *siege) { s.load(); s.await(besiegers, ready) }},
	{"all servers are idle", (*siege).allUp},
	{"calls wait for servers that start", func(s *siege) {
		s.load()
		s.await(1, connecting)
		for name := range s.config {
			s.calls = append(s.calls, s.call(name, "hang", ""))
		}
		s.w.WaitRequest(s.calls[besiegers-1].id, running)
	}},
	{"a call runs on each server", (*siege).callAll},
	{"the first call is being cancelled", func(s *siege) {
		s.cancelAll()
		s.w.WaitEvent("a cancel", func(e *mcphubv1.AttachResponse) bool { return e.GetMcpRequestCancelling() != nil })
	}},
	{"the last call was cancelled", func(s *siege) {
		s.cancelAll()
		for _, c := range s.calls {
			s.w.WaitTerminal(c.id)
		}
	}},
	{"one server is being stopped", func(s *siege) {
		s.callAll()
		s.begin(func(ctx context.Context) { _, _ = s.Servers.StopServer(ctx, stopOf("s00")) })
		s.await(1, stopping)
	}},
	{"one server has seen the end of its input", func(s *siege) {
		s.callAll()
		s.begin(func(ctx context.Context) { _, _ = s.Servers.StopServer(ctx, stopOf("s00")) })
		until(s.t, "it has seen it", func() bool { _, err := os.Stat(s.p.file("ended-s00")); return err == nil })
	}},
	{"one server has crashed", func(s *siege) {
		s.callAll()
		s.calls = append(s.calls, s.call("s00", "crash", ""))
		s.await(1, stopping)
	}},
	{"one server that has crashed starts again", func(s *siege) {
		s.callAll()
		s.calls = append(s.calls, s.call("s00", "crash", ""))
		s.await(1, failed)
		s.calls = append(s.calls, s.call("s00", "hang", ""))
		s.w.WaitRequest(s.calls[len(s.calls)-1].id, running)
	}},
	{"a reload stops every server", func(s *siege) {
		s.callAll()
		for name, e := range s.config {
			e.Args = append(e.Args, "changed")
			s.config[name] = e
		}
		s.load()
		s.await(1, stopping)
	}},
	{"a Drain begins", func(s *siege) { s.drain(); s.await(1, stopping) }},
	{"a Drain has closed the input of all servers", func(s *siege) {
		s.drain()
		until(s.t, "all have seen it", func() bool {
			seen, _ := filepath.Glob(s.p.file("ended-*"))
			return len(seen) == besiegers
		})
	}},
	{"a hub that was told to terminate stops its servers", func(s *siege) {
		s.callAll()
		if err := syscall.Kill(s.PID(), syscall.SIGTERM); err != nil {
			s.t.Fatal(err)
		}
		until(s.t, "some have seen it", func() bool { seen, _ := filepath.Glob(s.p.file("ended-*")); return len(seen) > 0 })
	}},
}

// TestHubKilledWithServersRunning_long: a hub that is killed with SIGKILL leaves no process, whatever it was doing, and
// its guard exits, too.
func TestHubKilledWithServersRunning_long(t *testing.T) {
	t.Parallel()
	if len(moments) != 20 {
		t.Fatalf("%d moments", len(moments))
	}
	for i, m := range moments {
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := besieged(t)
			m.reach(s)
			hub := doortest.Watch(t, s.PID())
			if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			hub.Wait(t, faketime.Long)
			s.p.deserted()
			s.over()
		})
	}
}

// TestHubAndGuardKilled_long: when the guard is killed with its hub, the kernel ends the servers, but not what they
// started. The next hub with the same state directory ends that before it serves, and nothing else.
func TestHubAndGuardKilled_long(t *testing.T) {
	t.Parallel()
	for _, m := range moments {
		switch m.name {
		case "five servers are up", "all servers are idle", "a call runs on each server",
			"a Drain has closed the input of all servers":
		default:
			continue
		}
		if testing.Short() && m.name != "a call runs on each server" {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := besieged(t)
			m.reach(s)
			bystander := exec.Command("/bin/sleep", "600")
			bystander.Dir = s.p.dir
			if err := bystander.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = bystander.Process.Kill()
				_ = bystander.Wait()
			})
			killBoth(t, s)
			s.over()
			servers := func(line string) bool { return strings.Contains(line, "stubborn.sh") }
			until(t, "the kernel has ended the servers", func() bool { return len(pick(s.p.Processes(), servers)) == 0 })
			left := len(pick(s.p.Processes(), isSleep))
			if left < 5 {
				t.Fatalf("no more than %d processes are left: nothing is proved", left)
			}

			next := s.p.spawnStateful()
			if now := s.p.Processes(); len(now) != 2 || now[next.PID()] == "" || now[bystander.Process.Pid] == "" {
				t.Errorf("with %d left, the next hub left %v", left, now)
			}
			if ledgers, err := os.ReadDir(s.p.file("state/processes")); err != nil || len(ledgers) != 0 {
				t.Errorf("ledgers %v, %v", ledgers, err)
			}
		})
	}
}

// killBoth kills the guard and then the hub, which it stops first, so that it cannot start another guard.
func killBoth(t *testing.T, s *siege) {
	t.Helper()
	hub := doortest.Watch(t, s.PID())
	if err := syscall.Kill(s.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	found := guards(s.p.Processes())
	if len(found) != 1 {
		t.Fatalf("guards %v", found)
	}
	guard := doortest.Watch(t, found[0])
	for _, pid := range []int{found[0], s.PID()} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	guard.Wait(t, faketime.Long)
	hub.Wait(t, faketime.Long)
}
