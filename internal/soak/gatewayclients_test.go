//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28; the clients of older revisions still use it.

package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/peers"
)

// connect connects a client of the lane.
func (c *crossing) connect(client int) caller {
	c.t.Helper()
	switch {
	case c.client == typescript:
		return c.startProgram(client)
	case c.client == gosdk:
		return c.connectGoSDK(client)
	case c.way == "stdio":
		return c.openPipe(client)
	case c.era == modern:
		return &rawExchanges{crossing: c, client: client}
	}
	return c.openSession(client)
}

// after calls do in so many milliseconds, if that is not negative. The function returned takes that back.
func after(ms float64, do func()) (stop func() bool) {
	if ms < 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(time.Duration(ms*float64(time.Millisecond)), do).Stop
}

// program is a client with the TypeScript SDK, in a process.
type program struct {
	*crossing
	cmd   *exec.Cmd
	index int
	done  chan struct{} // closed when the process has ended

	mu    sync.Mutex // guards what follows, and writes
	in    io.WriteCloser
	calls map[string]chan ending // by tag
	over  bool
}

// startProgram starts internal/peers/typescript2/ordered.mjs.
func (c *crossing) startProgram(client int) *program {
	c.t.Helper()
	era := map[string]string{legacy: "legacy", modern: "auto"}[c.era]
	command := append(peers.TypeScript2Ordered(c.t), era, c.address, "Bearer "+c.token)
	p := &program{crossing: c, cmd: exec.Command(command[0], command[1:]...), index: client, done: make(chan struct{}),
		calls: map[string]chan ending{}}
	p.cmd.Stderr = c.t.Output()
	var err1, err2 error
	p.in, err1 = p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, p.cmd.Start()); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(p.close)
	ready := make(chan struct{})
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			p.heard(lines.Bytes(), ready)
		}
		_ = p.cmd.Wait() // it was killed
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		for _, call := range p.calls {
			call <- ending{lost: true, waits: p.era == modern}
		}
	}()
	select {
	case <-ready:
	case <-p.done:
		c.t.Fatal("the client did not connect")
	}
	return p
}

// heard takes a line that the client writes.
func (p *program) heard(line []byte, ready chan<- struct{}) {
	var e struct {
		Event, Tag, Text, Error, Question string
		Dialog                            int
		Cancelled, Lost                   bool
	}
	if err := json.Unmarshal(line, &e); err != nil {
		p.bad("a client wrote no event", "%q", line)
		return
	}
	switch e.Event {
	case "ready":
		close(ready)
	case "opened":
		p.opens(p.index, strconv.Itoa(e.Dialog), e.Question)
	case "closed":
		p.closes(p.index, strconv.Itoa(e.Dialog))
	case "ended":
		p.mu.Lock()
		call := p.calls[e.Tag]
		delete(p.calls, e.Tag)
		p.mu.Unlock()
		// Over HTTP the SDK may have got a round that it has told nobody of. A connection that is cut is a cancel there.
		lost := e.Lost && p.is(cut)
		cancelled := e.Cancelled || lost && p.era == modern
		call <- ending{text: e.Text, err: e.Error, answered: e.Error == "", cancelled: cancelled, lost: lost,
			waits: cancelled && p.era == modern}
	}
}

func (p *program) call(o order) ending {
	line, err := json.Marshal(o)
	if err != nil {
		p.t.Error(err)
	}
	ended := make(chan ending, 1)
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		return ending{lost: true}
	}
	p.calls[o.Tag] = ended
	_, _ = p.in.Write(append(line, '\n')) // if it has ended, so does the call
	p.mu.Unlock()
	return <-ended
}

func (p *program) close() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// sdkClient is a client with the Go SDK.
type sdkClient struct {
	*crossing
	index   int
	session *sdk.ClientSession
	http    *http.Transport
	over    chan struct{} // closed with the client, whose session waits for its dialogs
	orders  sync.Map      // by tag
	dialogs atomic.Int64
}

func (c *crossing) connectGoSDK(client int) *sdkClient {
	c.t.Helper()
	s := &sdkClient{crossing: c, index: client, http: &http.Transport{}, over: make(chan struct{})}
	made := sdk.NewClient(&sdk.Implementation{Name: fmt.Sprint("gosdk ", client), Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ElicitationHandler: func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			text, err := s.ask(ctx, r.Params)
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": text}}, err
		},
		CreateMessageHandler: func(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
			text, err := s.ask(ctx, r.Params)
			return &sdk.CreateMessageResult{Model: "m", Role: "assistant", Content: &sdk.TextContent{Text: text}}, err
		},
	})
	o := &sdk.ClientSessionOptions{}
	if c.era == legacy {
		o.ProtocolVersion = "2025-11-25"
	}
	var err error
	s.session, err = made.Connect(c.t.Context(), &sdk.StreamableClientTransport{Endpoint: c.address,
		HTTPClient: &http.Client{Transport: authorized{s.http, c.token}}}, o)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// authorized sends a token with every request.
type authorized struct {
	http.RoundTripper
	token string
}

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return a.RoundTripper.RoundTrip(r)
}

// ask shows a dialog until it is answered or taken back.
func (s *sdkClient) ask(ctx context.Context, params any) (string, error) {
	question, err := json.Marshal(params)
	if err != nil {
		return "", err
	}
	id := strconv.FormatInt(s.dialogs.Add(1), 10)
	tag := s.opens(s.index, id, string(question))
	defer s.closes(s.index, id)
	wait := -1.0
	if o, known := s.orders.Load(tag); known {
		wait = o.(order).AnswerAfter
	}
	answer := make(chan struct{})
	defer after(wait, func() { close(answer) })()
	select {
	case <-answer:
		return "answer of " + tag, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-s.over:
		return "", errors.New("the client ends")
	}
}

func (s *sdkClient) call(o order) ending {
	s.orders.Store(o.Tag, o)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer after(o.CancelAfter, func() { cancel(errLeft) })()
	result, err := s.session.CallTool(ctx, &sdk.CallToolParams{Name: o.Tool, Arguments: o.Arguments,
		Meta: sdk.Meta{peers.TagKey: o.Tag}})
	if err != nil {
		stopped := ctx.Err() != nil
		return ending{err: err.Error(), cancelled: stopped, waits: stopped && s.era == modern}
	}
	e := ending{answered: true}
	for _, content := range result.Content {
		if text, ok := content.(*sdk.TextContent); ok {
			e.text += text.Text
		}
	}
	return e
}

func (s *sdkClient) close() {
	close(s.over)
	_ = s.session.Close()
	s.http.CloseIdleConnections() // the gateway's end waits for a connection that was never used
}
