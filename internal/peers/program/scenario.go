package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Client is a connected client with some SDK.
type Client interface {
	Tools(ctx context.Context) ([]string, error)
	// Call calls a tool, and returns the texts of its result. The end of ctx cancels the call.
	Call(ctx context.Context, tool string, arguments map[string]any, progress func()) (string, error)
	Prompts(ctx context.Context) ([]string, error)
	Prompt(ctx context.Context, name string) (messages int, err error)
	Resources(ctx context.Context) (uris []string, err error)
	Resource(ctx context.Context, uri string) (bytes int, err error)
	Close() error
}

// Questions controls how the client's handler answers elicitations.
type Questions struct {
	mu    sync.Mutex
	hold  bool
	taken chan string
}

// NewQuestions returns Questions that are answered at once.
func NewQuestions() *Questions { return &Questions{taken: make(chan string, 1)} }

// Name answers a form with a name. If the question will be withdrawn, it waits for the withdrawal, which ends ctx; if
// that does not come, it answers late.
func (q *Questions) Name(ctx context.Context) (string, error) {
	q.mu.Lock()
	hold := q.hold
	q.mu.Unlock()
	if !hold {
		return "Ada", nil
	}
	late := time.NewTimer(1500 * time.Millisecond)
	defer late.Stop()
	select {
	case <-ctx.Done():
		q.taken <- context.Cause(ctx).Error()
		return "", context.Cause(ctx)
	case <-late.C:
		return "Ada", nil
	}
}

func (q *Questions) holding(on bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hold = on
}

// Sampled is the answer of the client's model.
const Sampled = "Hello from the model"

var errSeenEnough = errors.New("seen enough")

// step is the recorded outcome of a step.
type step map[string]any

// Play runs the scenario with the tools whose names begin with prefix. With "" there is only one server.
func Play(out io.Writer, c Client, prefix string, q *Questions) error {
	ctx := context.Background()
	lines := json.NewEncoder(out)
	do := func(name string, run func() (step, error)) {
		s, err := run()
		if s == nil {
			s = step{}
		}
		if s["step"] = name; err != nil {
			s["error"] = err.Error()
		}
		_ = lines.Encode(s) // an error means that the reader has gone
	}
	call := func(ctx context.Context, tool string, arguments map[string]any, progress func()) (step, error) {
		text, err := c.Call(ctx, prefix+tool, arguments, progress)
		return step{"text": text}, err
	}
	plain := func(name, tool string, arguments map[string]any) {
		do(name, func() (step, error) { return call(ctx, tool, arguments, nil) })
	}
	do("list", func() (step, error) {
		others := func(tool string) bool { return prefix == "" || !strings.HasPrefix(tool, prefix) }
		for { // a server that is still starting, ours or the one beside it, is listed later
			tools, err := c.Tools(ctx)
			if err != nil || slices.Contains(tools, prefix+"slow") && slices.ContainsFunc(tools, others) {
				return step{"tools": tools}, err
			}
			<-time.After(100 * time.Millisecond)
		}
	})
	do("progress", func() (step, error) {
		heard := counter{}
		s, err := call(ctx, "slow", map[string]any{"ms": 200, "steps": 4}, heard.add)
		s["heard"] = heard.read()
		return s, err
	})
	do("cancel", func() (step, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		stop := func() { cancel(errSeenEnough) }
		defer time.AfterFunc(5*time.Second, stop).Stop() // for a server without progress
		_, err := call(ctx, "slow", map[string]any{"ms": 600_000, "steps": 6000}, stop)
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
		return nil, err
	})
	plain("after", "slow", map[string]any{"ms": 1, "steps": 1})
	plain("ask", "ask", map[string]any{"about": "it"})
	plain("sample", "sample", map[string]any{"prompt": "Hello"})
	do("withdraw", func() (step, error) {
		q.holding(true)
		defer q.holding(false)
		s, err := call(ctx, "ask_then_withdraw", map[string]any{"after": 1000, "reason": "too late"}, nil)
		select {
		case s["taken"] = <-q.taken:
		case <-time.After(time.Second): // a client of 2026-07-28 learns of it only at its next try
		}
		return s, err
	})
	do("prompt", func() (step, error) {
		names, err := c.Prompts(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "simple-prompt") {
				messages, err := c.Prompt(ctx, name)
				return step{"name": name, "messages": messages}, err
			}
		}
		return nil, fmt.Errorf("there is no simple prompt among %q", names)
	})
	do("resource", func() (step, error) {
		uris, err := c.Resources(ctx)
		if err != nil || len(uris) == 0 {
			return nil, errors.Join(err, errors.New("there are no resources"))
		}
		bytes, err := c.Resource(ctx, uris[0])
		return step{"resources": bytes > 0}, err
	})
	plain("unknown", "no_such_tool", nil)
	if err := c.Close(); err != nil {
		return err
	}
	do("end", func() (step, error) { return nil, nil })
	return nil
}

// counter is a counter for any number of goroutines.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *counter) read() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
