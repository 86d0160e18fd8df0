package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// modelWorld records what the clients and the servers of a run see, by the tag of a call.
type modelWorld struct {
	mu      sync.Mutex
	wrong   []string
	ended   map[string]int    // how often a handler returned
	reasons map[string]string // of the cancels that reached servers
}

func (w *modelWorld) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) < 10 {
		w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	}
}

// work is the handler of a tool that takes the steps in its arguments: p reports progress, s sleeps, a asks, w asks and
// withdraws the question, h waits until it is cancelled. All that it sends has its tag. A cancel ends it.
func (w *modelWorld) work(c *fakeserver.CallContext) {
	tag := jsontext.String(jsontext.Get(c.Arguments(), "tag"))
	defer func() {
		w.mu.Lock()
		w.ended[tag]++
		w.mu.Unlock()
	}()
	wait := func(other <-chan time.Time) (on bool) {
		select {
		case <-other:
			return true
		case reason := <-c.Cancelled():
			w.mu.Lock()
			w.reasons[tag] = reason
			w.mu.Unlock()
			return false
		}
	}
	question := `{"message":"` + tag + `","requestedSchema":{"type":"object","properties":{"tag":{"type":"string"}}}}`
	for i, step := range jsontext.String(jsontext.Get(c.Arguments(), "steps")) {
		switch step {
		case 'p':
			c.Progress(float64(i), 100, tag)
		case 's':
			if !wait(time.After(7 * time.Millisecond)) {
				return
			}
		case 'a':
			asked := c.Request("elicitation/create", question)
			select {
			case answer := <-asked.Response():
				result := jsontext.Get([]byte(answer.Raw), "result")
				content := jsontext.Get(result, "content")
				if got := jsontext.String(jsontext.Get(content, "tag")); content != nil && got != tag {
					w.fail("the question of %s was answered for %s", tag, got)
				}
			case reason := <-c.Cancelled():
				w.mu.Lock()
				w.reasons[tag] = reason
				w.mu.Unlock()
				asked.Cancel("its call was cancelled")
				return
			}
		case 'w':
			asked := c.Request("elicitation/create", question)
			on := wait(time.After(3 * time.Millisecond))
			asked.Cancel("found it")
			if !on {
				return
			}
		case 'h':
			wait(nil)
			return
		}
	}
	c.Text(tag)
}

// modelClient is a client of the gateway, on the engine's own client side.
type modelClient struct {
	mcp.NoHandler
	*modelWorld
	name    string
	session *mcp.Session
	slow    bool // answers questions after 5 ms
}

func (c *modelClient) Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error) {
	if !strings.HasPrefix(q.Message, c.name+"-") {
		c.fail("%s was asked %q", c.name, q.Message)
	}
	if c.slow {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return mcp.Answer{Action: mcp.Dismiss}, nil
		}
	}
	return mcp.Answer{Action: mcp.Accept, Content: json.RawMessage(`{"tag":"` + q.Message + `"}`)}, nil
}

// modelReason is why a client cancels.
type modelReason string

func (r modelReason) Error() string        { return string(r) }
func (r modelReason) CancelReason() string { return string(r) }

// call makes one call, and checks that its progress and its result are its own.
func (c *modelClient) call(server, tag, steps string, cancelAfter time.Duration) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if cancelAfter >= 0 {
		timer := time.AfterFunc(cancelAfter, func() { cancel(modelReason("why " + tag)) })
		defer timer.Stop()
	}
	result, err := c.session.CallTool(ctx, &mcp.CallRequest{Name: server + "__work",
		Arguments: json.RawMessage(fmt.Sprintf(`{"tag":%q,"steps":%q}`, tag, steps)),
		OnProgress: func(p mcp.Progress) {
			if p.Message != tag {
				c.fail("%s heard progress of %q", tag, p.Message)
			}
		}})
	switch {
	case ctx.Err() != nil && err != nil:
	case err != nil:
		c.fail("%s (%s) failed: %v", tag, steps, err)
	case !strings.Contains(string(result.Raw), `"text":"`+tag+`"`):
		c.fail("%s (%s) got %s", tag, steps, result.Raw)
	}
}

// TestModel_long lets several clients of both eras call, cancel and answer at random through one gateway: each gets
// progress, questions and results of its own calls only, each handler returns once, servers are sent the reason of the
// call that was cancelled, and no request is left.
func TestModel_long(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playModel(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func playModel(t *testing.T, random *rand.Rand) {
	w := &modelWorld{ended: map[string]int{}, reasons: map[string]string{}}
	servers := map[string]*fakeserver.Server{}
	for _, name := range []string{"a", "b"} {
		servers[name] = fakeserver.New()
		servers[name].Tool("work", w.work)
	}
	var processes []*fakeserver.Process
	h := hub.New(hub.Options{Version: "test", Open: func(c config.Server, _ func(string)) mcp.Opener {
		return func(context.Context) (*mcp.Link, error) {
			p := servers[c.Name].Start(context.Background())
			w.mu.Lock()
			processes = append(processes, p)
			w.mu.Unlock()
			return &mcp.Link{Conn: jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{Close: p.End})}, nil
		}
	}})
	const text = `{"mcpServers":{"a":{"command":"a","alwaysAllow":["*"]},"b":{"command":"b","alwaysAllow":["*"]}}}`
	if _, _, _, err := h.LoadConfig(context.Background(),
		[]hub.ConfigSource{{Path: "t.json", Scope: "host", JSON: text}}); err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(h, gateway.Options{Bounds: mcpserver.Bounds{Retry: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	var serving sync.WaitGroup
	clients := []*modelClient{{name: "one"}, {name: "two", slow: true}, {name: "three", slow: true}}
	for i, era := range []string{mcp.EraLegacy, mcp.EraModern, mcp.EraLegacy} {
		c := clients[i]
		c.modelWorld = w
		c.session, err = mcp.Connect(context.Background(), mcp.Options{Server: "gateway", Era: era, Handler: c,
			Client:       mcp.Implementation{Name: c.name, Version: "1"},
			Capabilities: func() mcp.Capabilities { return mcp.Capabilities{ElicitationForm: true} },
			Open: func(context.Context) (*mcp.Link, error) {
				toGateway, in := io.Pipe()
				out, fromGateway := io.Pipe()
				line := func(r *io.PipeReader, w *io.PipeWriter) *jsonrpc.LineConn {
					return jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{Close: func() error {
						return errors.Join(w.Close(), r.Close())
					}})
				}
				serving.Go(func() { _ = g.Serve(context.Background(), line(toGateway, fromGateway)) })
				return &mcp.Link{Conn: line(out, in)}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
	}

	var calls sync.WaitGroup
	asked := map[string]bool{} // tags of all calls
	for i := range 40 {
		c := clients[random.IntN(len(clients))]
		tag := fmt.Sprintf("%s-%d", c.name, i)
		var steps strings.Builder
		for range random.IntN(6) {
			steps.WriteByte("ppssaaw"[random.IntN(7)])
		}
		cancelAfter := time.Duration(-1)
		if random.IntN(2) == 0 {
			cancelAfter = time.Duration(random.IntN(30)) * time.Millisecond
			if random.IntN(3) == 0 {
				steps.WriteByte('h')
			}
		}
		asked[tag] = true
		server := []string{"a", "b"}[random.IntN(2)]
		calls.Go(func() { c.call(server, tag, steps.String(), cancelAfter) })
		faketime.Pass(time.Duration(random.IntN(4)) * time.Millisecond)
	}
	calls.Wait()
	<-time.After(5 * time.Second) // for cancels that reach servers late, and questions of cancelled calls
	synctest.Wait()
	for _, r := range h.Requests("") {
		t.Errorf("request left: %+v", r)
	}
	for _, c := range clients {
		if err := c.session.Close(errors.New("the run is over")); err != nil {
			t.Error(err)
		}
	}
	serving.Wait()
	g.Close(nil)
	if err := h.Close(context.Background()); err != nil {
		t.Error(err)
	}
	for _, p := range processes {
		_ = p.Wait()
	}
	synctest.Wait()
	for tag, n := range w.ended {
		if !asked[tag] || n != 1 {
			t.Errorf("the call %q was worked on %d times", tag, n)
		}
	}
	for tag, reason := range w.reasons {
		// A modern client that cancels between two rounds has no request open, so its reason reaches nobody.
		gone := strings.HasPrefix(tag, "two-") && reason == "the client did not retry the request in time"
		if reason != "why "+tag && !gone {
			t.Errorf("the server heard for %s: %q", tag, reason)
		}
	}
	if len(w.wrong) > 0 {
		t.Error(strings.Join(w.wrong, "\n"))
	}
}
