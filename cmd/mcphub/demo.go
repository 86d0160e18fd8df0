package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stepTime bounds a step. No step takes as long on a slow machine, so a demo that hangs reports where.
const stepTime = 30 * time.Second

// exitDemo is the exit status of a demo that did not show what it claims.
const exitDemo = 1

var errQuit = errors.New("quit")

const demoIntroduction = `McpHub: one hub, one MCP server in four places, two editor windows.

Everything here is real: the hub is a process of its own behind its plugin door, the server is others behind their stdio and URLs.
Each step checks what it says.
`

func runDemo(env environment, o demoOptions) int {
	if err := o.check(); err != nil {
		return usageError(env, "demo", err)
	}
	if o.web {
		return runDemoWeb(env, o)
	}
	d := &demo{stage: &stage{env: env, page: newPage(env.stdout), processes: map[int]string{}}}
	if isTerminal(env.stdin) && isTerminal(env.stdout) {
		d.lines = readLines(env.stdin)
	}
	ctx, stop := env.interruptible()
	defer stop()
	began := time.Now()
	d.page.line("%s", demoIntroduction)
	err := d.play(ctx)
	switch {
	case err == nil:
		d.page.line("\nAll %d steps did what they say, in %s.", d.number, shortDuration(time.Since(began)))
		return exitOK
	case errors.Is(err, errQuit):
		return exitOK
	case ctx.Err() != nil:
		env.say("mcphub demo: %v", context.Cause(ctx))
		return exitCancelled
	}
	if d.number == 0 {
		env.say("mcphub demo: %s", escape(err.Error()))
	} else {
		env.say("mcphub demo: step %d failed: %s", d.number, escape(err.Error()))
	}
	return exitDemo
}

// demo is one run of the demo.
type demo struct {
	*stage
	lines  <-chan string // what the person types; nil if there is nobody
	number int           // number of the present step
}

// play plays every step. However it ends, it closes the hub and leaves nothing behind.
func (d *demo) play(ctx context.Context) (err error) {
	if d.dir, err = os.MkdirTemp("", "mcphub-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	stageCtx, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		// If no step failed, all this has ended and was checked: see sceneEnd.
		if d.client != nil {
			closeHub(d.env, d.client, closeTime)
		}
		ctx, done := context.WithTimeoutCause(context.WithoutCancel(ctx), hurriedCloseTime, errStepTime)
		defer done()
		if err := d.stopWebs(ctx); err != nil {
			d.env.say("mcphub demo: %v", err)
		}
		leave(errWindowClosed)
		d.group.Wait()
	}()

	opening, opened := context.WithTimeoutCause(ctx, stepTime, errStepTime)
	err = played(func() { d.open(opening, stageCtx) })
	opened()
	if err != nil {
		return err
	}
	for _, sc := range scenes {
		if err := d.step(ctx, sc); err != nil {
			return err
		}
	}
	return nil
}

// openAlone spawns the servers that the hub reaches by URL, and the hub. Answers that the hub remembers are kept in the
// demo's directory, which is removed at the end.
func (d *demo) openAlone(ctx context.Context) {
	for _, name := range []string{modernWeb, legacyWeb} {
		d.startWeb(name)
	}
	d.client = got(openHubWith(ctx, d.env, filepath.Join(d.dir, "state")))
}

// open is openAlone with both windows, which exist as long as stageCtx.
func (d *demo) open(ctx, stageCtx context.Context) {
	d.openAlone(ctx)
	d.left, d.right = d.attach(stageCtx, screenA), d.attach(stageCtx, screenB)
	d.starts(ctx)
}

// step plays one scene, after the person has pressed Enter for it.
func (d *demo) step(ctx context.Context, sc scene) error {
	if d.number > 0 {
		if err := d.next(ctx); err != nil {
			return err
		}
	}
	d.number++
	d.page.title(d.number, sc.title, sc.about)
	ctx, done := context.WithTimeoutCause(ctx, stepTime, errStepTime)
	defer done()
	err := played(func() { sc.play(ctx, d.stage) })
	if err != nil {
		d.page.failed(err)
	}
	return err
}

// next waits for Enter. If there is no person, it returns at once.
func (d *demo) next(ctx context.Context) error {
	if d.lines == nil {
		return nil
	}
	d.page.print("\n    Enter for the next step, q to quit: ")
	select {
	case line, ok := <-d.lines:
		if !ok || slices.Contains([]string{"q", "quit", "exit"}, strings.TrimSpace(line)) {
			return errQuit
		}
		return nil
	case <-ctx.Done():
		d.page.line("")
		return context.Cause(ctx)
	}
}

// stepFailure is the value of the panic by which a step ends at the first thing that is not as it should be, as a test
// ends: every line of a step is such a check.
type stepFailure struct{ error }

// played returns the failure that has ended f, nil if none has.
func played(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stepFailure:
			err = r.error
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

func must(err error) {
	if err != nil {
		panic(stepFailure{asFailure(err)})
	}
}

func got[T any](v T, err error) T {
	must(err)
	return v
}

func failIf(wrong bool, format string, args ...any) {
	if wrong {
		must(fmt.Errorf(format, args...))
	}
}

// survivors returns the processes of the demo that still run.
func (s *stage) survivors() (alive []string) {
	for pid, what := range s.processes {
		if processAlive(pid) {
			alive = append(alive, fmt.Sprintf("%s (%d)", what, pid))
		}
	}
	return alive
}

// endedOnce checks in all events of both windows that each request that started has ended exactly once. It returns the
// number of requests.
func (s *stage) endedOnce() (requests int, err error) {
	for _, scr := range []*screen{s.left, s.right} {
		events, _, _ := scr.log.since(0)
		ends := map[string]int{}
		for _, e := range events {
			if id := e.GetMcpRequestStarted().GetRequest().GetRequestId(); id != "" {
				ends[id] += 0
			}
			if id := e.GetMcpRequestCancelled().GetRequestId() + e.GetMcpRequestFinished().GetRequestId(); id != "" {
				ends[id]++
			}
		}
		for id, n := range ends {
			if n != 1 {
				return 0, fmt.Errorf("the %s was told %d ends of the request %s", scr.title, n, id)
			}
		}
		requests = len(ends)
	}
	return requests, nil
}
