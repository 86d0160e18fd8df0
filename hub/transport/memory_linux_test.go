package transport

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func init() { moreModes["hog"] = hog }

// hog allocates 8 MiB at a time, up to 1 GiB.
func hog() int {
	fmt.Println("ready")
	var held [][]byte
	for range 128 {
		b := make([]byte, 8<<20)
		for i := 0; i < len(b); i += 4 << 10 {
			b[i] = 1
		}
		held = append(held, b)
	}
	forever()
	return len(held) // keeps them
}

func quickLooks(c *Containment) *Containment {
	c.memory.every = 10 * time.Millisecond // before the first server
	return c
}

func testChild(mode string) Command {
	return Command{
		Path: os.Args[0], Grace: short,
		Env: append(Environment(os.Environ(), Own, nil), childMode+"="+mode, "GORACE=atexit_sleep_ms=0"),
	}
}

// The hog is not the server itself: it left the group, and counts all the same.
func TestMemoryHogIsKilled_real(t *testing.T) {
	t.Parallel()
	c := quickLooks(contained(t))
	token := newToken()
	endAll(t, token)
	const limit = 400 << 20
	cmd := testChild("hog")
	cmd.Args = []string{"-c", `setsid "$1" & exec sleep 300`, "sh", os.Args[0]}
	cmd.Path, cmd.MemoryLimit = "/bin/sh", limit
	cmd.Env = append(cmd.Env, tokenVariable+"="+token)
	p := startIn(t, c, cmd)
	within(t, p.Done(), "the end of the hog")
	e := p.Exit()
	if e.Memory.Limit != limit || e.Memory.Used <= limit || e.Stage != StageKilled || e.Signal != "SIGKILL" ||
		e.Err != nil {
		t.Errorf("got %+v", e)
	}
	if e.Why != e.Memory.String() || !strings.Contains(e.String(), "more than its memory limit of 400 MiB") {
		t.Errorf("in words: %v", e)
	}
	if pids := withToken(t, token); len(pids) != 0 {
		t.Errorf("%v live on", pids)
	}
}

func TestServerWithinItsLimitIsLeftAlone_real(t *testing.T) {
	c := contained(t)
	look := make(chan struct{})
	c.memory.every = time.Millisecond
	inner := c.memory.look
	c.memory.look = func(ps []*Process) []footprint {
		select {
		case look <- struct{}{}:
		default:
		}
		return inner(ps)
	}
	cmd := testChild("exit-on-eof")
	cmd.MemoryLimit, cmd.Grace = 4<<30, generous
	p := startIn(t, c, cmd)
	ready(t, p.Stdout())
	for range 5 {
		<-look
	}
	used, ok := p.Memory()
	if !ok || used < 1<<20 || used > 4<<30 {
		t.Errorf("it uses %d, %v", used, ok)
	}
	if e := p.Stop("enough"); e.Stage != StageStdin || e.Memory != (MemoryUse{}) {
		t.Errorf("got %+v", e)
	}
	if used, ok := p.Memory(); ok {
		t.Errorf("after its end it uses %d", used)
	}
}

// One goroutine looks at all servers with a limit, from the start of the first one to the end of the last one.
func TestMemoryLookerLivesWithItsServers_real(t *testing.T) {
	c := quickLooks(contained(t))
	looking := func() bool {
		c.memory.mu.Lock()
		defer c.memory.mu.Unlock()
		return c.memory.quit != nil
	}
	run := func(limit int64) *Process {
		cmd := testChild("exit-on-eof")
		cmd.MemoryLimit, cmd.Grace = limit, generous
		p := startIn(t, c, cmd)
		ready(t, p.Stdout())
		return p
	}
	run(0)
	if looking() {
		t.Error("a server without a limit is watched")
	}
	first, second := run(4<<30), run(4<<30)
	c.memory.mu.Lock()
	quit := c.memory.quit
	c.memory.mu.Unlock()
	first.Stop("enough")
	if isClosed(quit) || !looking() {
		t.Error("nobody looks at the second server")
	}
	second.Stop("enough")
	within(t, quit, "the end of the watch")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.memory.lookers.Wait()
	}()
	within(t, ended, "the end of the looker")
	if third := run(4 << 30); !looking() {
		t.Errorf("nobody looks at %d", third.PID())
	}
}

// A server is killed once two looks in a row have found it above its limit; shared memory counts once.
func TestMemoryLimitNeedsTwoLooks_real(t *testing.T) {
	p := start(t, "ignore-eof", withGrace(generous)) // its input is closed before it is killed
	ready(t, p.Stdout())
	var use footprint
	w := newMemoryWatch()
	w.look = func(ps []*Process) []footprint { return []footprint{use} }
	w.watched[p] = &memoryState{limit: 100}
	shared := func(n int64) func() int64 { return func() int64 { return n } }
	for i, u := range []footprint{
		{120, nil}, {90, nil}, {120, nil}, {100, nil}, // never twice in a row
		{300, shared(80)}, {300, shared(80)}, {300, shared(80)}, // forks of one image
		{120, shared(110)},
	} {
		use = u
		w.once()
		if isClosed(p.stopping) {
			t.Fatalf("killed after look %d", i)
		}
	}
	use = footprint{150, shared(130)}
	w.once()
	within(t, p.Done(), "the end")
	if e := p.Exit(); e.Memory != (MemoryUse{Limit: 100, Used: 130}) || e.Stage != StageKilled {
		t.Errorf("got %+v", e)
	}
}
