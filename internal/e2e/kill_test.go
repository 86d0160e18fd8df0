//go:build unix

package e2e

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// treeBound is the promised bound on how long a hub, its servers and all that they started outlive their host.
const treeBound = 5 * time.Second

// withChild is a fake server with a sleeping child that ignores SIGTERM.
func (p *place) withChild(flags ...string) entry {
	return p.fake(append([]string{"-family", "-pids", p.file("pids.json")}, flags...)...)
}

// watchFamily watches a fake server and its child.
func (p *place) watchFamily() (server, child *doortest.Death) {
	p.t.Helper()
	f := familyOf(p.t, p.file("pids.json"))
	return doortest.Watch(p.t, f.Server), doortest.Watch(p.t, f.Child)
}

// leftAlone checks that a hub whose host was killed has removed its temporary files.
func leftAlone(t *testing.T, temporary string) {
	t.Helper()
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// TestHostKilled runs alone (ALONE in the Makefile), since it checks treeBound.
func TestHostKilled(t *testing.T) {
	p := newPlace(t)
	h, temporary := p.host(servers{"fake": p.withChild()}, stageRunning)
	server, child := p.watchFamily()
	h.kill(t)
	end := time.Now().Add(treeBound)
	for _, death := range []*doortest.Death{h.hub, server, child} {
		death.Wait(t, time.Until(end))
	}
	p.deserted() // the guard exits last
	leftAlone(t, temporary)
}

func TestKillAtEveryStage(t *testing.T) {
	for _, stage := range []string{stageShaking, stageAttached, stageConnecting, stageApproval, stageRunning,
		stageDraining} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			e := p.withChild()
			switch stage {
			case stageConnecting:
				e = p.withChild("-mute", "initialize")
			case stageApproval:
				e = asking(e)
			}
			h, temporary := p.host(servers{"fake": e}, stage)
			deaths := []*doortest.Death{h.hub}
			switch stage {
			case stageShaking, stageAttached: // nothing else runs
			case stageDraining: // the server itself may be gone already
				deaths = append(deaths, doortest.Watch(t, familyOf(t, p.file("pids.json")).Child))
			default:
				server, child := p.watchFamily()
				deaths = append(deaths, server, child)
			}
			h.kill(t)
			for _, death := range deaths {
				death.Wait(t, faketime.Long)
			}
			p.deserted() // the guard exits last
			leftAlone(t, temporary)
		})
	}
}

// openFamily opens a hub with a server and its child, a call that runs and a prompt that is open.
func openFamily(t *testing.T) (p *place, d *door, hub, server, child *doortest.Death) {
	t.Helper()
	p = newPlace(t)
	d = p.open(servers{"fake": p.withChild()})
	w := d.window("side bar")
	w.WaitRequest(d.call("fake", "hang", "").id, running)
	d.call("fake", "ask", "")
	w.WaitPrompt(form)
	server, child = p.watchFamily()
	return p, d, doortest.Watch(t, d.PID()), server, child
}

// TestHubTermSignal: SIGTERM ends the hub in order, and with it its servers and what they started.
func TestHubTermSignal(t *testing.T) {
	t.Parallel()
	p, d, hub, server, child := openFamily(t)
	if err := syscall.Kill(d.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, death := range []*doortest.Death{hub, server, child} {
		death.Wait(t, faketime.Long)
	}
	p.deserted()
}

// TestHubKilledServersSeeEOF: servers that read their input exit when the hub is killed, and nothing else is left.
func TestHubKilledServersSeeEOF(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.demo("legacy"))
	d := p.open(servers{"demo": e, "fake": p.fake("-pids", p.file("pids.json"))})
	w := d.window("side bar")
	sleeping := d.call("demo", "sleep", `{"seconds":600}`)
	w.WaitRequest(sleeping.id, running)
	d.start("fake")
	wire.await("the call", callOf("sleep"))
	hub := doortest.Watch(t, d.PID())
	proxy := doortest.Watch(t, int(d.server("demo").GetProcessId()))
	fake := doortest.Watch(t, familyOf(t, p.file("pids.json")).Server)
	if err := syscall.Kill(d.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, death := range []*doortest.Death{hub, fake, proxy} {
		death.Wait(t, faketime.Long)
	}
	if _, err := d.Hub.GetInfo(d.ctx, &mcphubv1.GetInfoRequest{}); err == nil {
		t.Error("a dead hub answers")
	}
	p.deserted() // the guard exits last
}

// TestNothingLeftAfterClose: the host closes the hub while a call runs and a prompt is open.
func TestNothingLeftAfterClose(t *testing.T) {
	t.Parallel()
	p, d, hub, server, child := openFamily(t)
	if err := d.Close(context.Background()); err != nil {
		t.Error(err)
	}
	for name, death := range map[string]*doortest.Death{"hub": hub, "server": server, "child": child} {
		if death.Alive(t) {
			t.Errorf("the %s lives after Close", name)
		}
	}
	if left := p.Processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}
