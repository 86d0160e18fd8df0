package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// The tools of the play.
const (
	toolSlow     = "slow"
	toolAsk      = "ask"
	toolSample   = "sample"
	toolRoots    = "roots"
	toolWithdraw = "ask_then_withdraw"
)

const (
	// lateAfter is how long after its cancel a call is answered. The cancel's own traces are gone by then.
	lateAfter = 300 * time.Millisecond
	// withdrawAfter is how long a question stands that is withdrawn, so that a person sees it.
	withdrawAfter = 3 * time.Second
	// listens is how long a client is listened to after a withdrawal, and how long it has for the answer to a ping.
	listens = 2 * time.Second
	// linger is how long our process stays when its input has ended, to see what the client does about it. The Go SDK
	// waits for 5 s before its signal.
	linger = 8 * time.Second
)

// tools are the definitions of the tools, and the method that the client must answer for the tool to be listed.
var tools = []struct{ name, method, description, properties string }{
	{toolSlow, "", "Never ends, and reports progress: cancel it. With ms it ends after so many milliseconds.",
		`"ms":{"type":"integer"},"steps":{"type":"integer"}`},
	{toolAsk, protocol.MethodElicitation, "Asks the user to fill in a form: answer it.", `"about":{"type":"string"}`},
	{toolSample, protocol.MethodSampling, "Asks the model for a text: let it answer.", `"prompt":{"type":"string"}`},
	{toolRoots, protocol.MethodRoots, "Asks for the roots of the workspace.", ""},
	{toolWithdraw, "", "Asks, and withdraws its question after 3 seconds: do not answer it, and see it go. With after it " +
		"is withdrawn after so many milliseconds.", `"after":{"type":"integer"},"reason":{"type":"string"}`},
}

// questions are the params of what is asked, in the order in which ask_then_withdraw prefers them.
var questions = []struct{ method, params string }{
	{protocol.MethodElicitation, `{"message":"The doctor asks: who are you? Any answer will do.","requestedSchema":` +
		`{"type":"object","properties":{"name":{"type":"string","title":"Name"}}}}`},
	{protocol.MethodSampling, `{"messages":[{"role":"user","content":{"type":"text","text":"Say hello."}}],"maxTokens":50}`},
	{protocol.MethodRoots, ""},
}

// withdrawal is why a question is withdrawn. It reaches the client as the reason.
type withdrawal string

func (w withdrawal) Error() string        { return string(w) }
func (w withdrawal) CancelReason() string { return string(w) }

// play is the handler of a server whose tools exercise a client.
type play struct {
	server *mcpserver.Server
	wireOf func(*mcpserver.Session) *wire // of a session that has begun
	pings  sync.WaitGroup
}

func newPlay(version string, wireOf func(*mcpserver.Session) *wire) *play {
	p := &play{wireOf: wireOf}
	info, _ := json.Marshal(map[string]string{"name": "mcphub-doctor", "version": version})
	p.server = mcpserver.New(mcpserver.Options{Handler: p, Info: info, Capabilities: json.RawMessage(`{"tools":{}}`)})
	return p
}

// close ends the sessions.
func (p *play) close() {
	p.server.Close(nil)
	p.pings.Wait()
}

// Notified implements mcpserver.Handler.
func (p *play) Notified(*mcpserver.Session, string, json.RawMessage) {}

// Ended implements mcpserver.Handler.
func (p *play) Ended(*mcpserver.Session, error) {}

// Request implements mcpserver.Handler.
func (p *play) Request(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	switch c.Method {
	case protocol.MethodListTools:
		return list(c.Client), nil
	case protocol.MethodCallTool:
		return p.call(ctx, c)
	}
	return nil, mcpserver.ErrUnknownMethod
}

// list returns the tools that are of use with the client.
func list(client mcpserver.Client) json.RawMessage {
	b := []byte(`{"tools":[`)
	for _, t := range tools {
		switch {
		case t.method != "" && !client.Declares(t.method):
			continue
		case t.name == toolWithdraw && (client.Modern || question(client) < 0): // 2026-07-28 has no withdrawals
			continue
		}
		if b[len(b)-1] == '}' {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(append(b, `{"name":`...), t.name), `,"description":`...)
		b = append(jsontext.AppendString(b, t.description), `,"inputSchema":{"type":"object","properties":{`...)
		b = append(append(b, t.properties...), `}}}`...)
	}
	return append(b, "]}"...)
}

// question returns the index of the first question that the client answers, or -1.
func question(client mcpserver.Client) int {
	for i, q := range questions {
		if client.Declares(q.method) {
			return i
		}
	}
	return -1
}

// call runs a tool. If the client cancels the call, it is answered all the same, later.
func (p *play) call(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	w := p.wireOf(c.Session)
	given := w.call(c.ID())
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(given, func() { cancel(context.Cause(given)) })()
	w.onLate(func() { p.pings.Go(func() { ping(c.Session) }) })
	text, err := run(running, c)
	if given.Err() != nil {
		pause(ctx, lateAfter)
	}
	return result(text, err), nil
}

// ping asks a client for a sign of life. Its answer is an event like any other.
func ping(s *mcpserver.Session) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), listens, withdrawal("no answer to a ping"))
	defer cancel()
	_ = s.Ping(ctx)
}

// pause waits, at most until the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// run runs a tool until it ends or is cancelled.
func run(ctx context.Context, c *mcpserver.Call) (text string, err error) {
	name, args := jsontext.String(jsontext.Get(c.Params, "name")), jsontext.Get(c.Params, "arguments")
	switch name {
	case toolSlow:
		return slow(ctx, c, number(args, "ms"), number(args, "steps"))
	case toolWithdraw:
		return withdraw(ctx, c, number(args, "after"), jsontext.String(jsontext.Get(args, "reason")))
	}
	for i, asks := range []string{toolAsk, toolSample, toolRoots} {
		if name != asks {
			continue
		}
		answer, err := c.Ask(ctx, questions[i].method, json.RawMessage(questions[i].params))
		if err != nil {
			return "", err
		}
		return "answered: " + short(string(answer)), nil
	}
	return "", fmt.Errorf("there is no tool %q", short(name))
}

// number returns a positive integer of a tool's arguments, or 0.
func number(args json.RawMessage, name string) (n int64) {
	if json.Unmarshal(jsontext.Get(args, name), &n) != nil {
		return 0
	}
	return min(max(n, 0), 86_400_000)
}

// slow works for ms milliseconds, or until it is cancelled, with so many steps or one each second.
func slow(ctx context.Context, c *mcpserver.Call, ms, steps int64) (string, error) {
	step := time.Second
	if ms > 0 && steps > 0 {
		step = max(time.Duration(ms)*time.Millisecond/time.Duration(steps), 10*time.Millisecond)
	}
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	var over <-chan time.Time
	if ms > 0 {
		end := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer end.Stop()
		over = end.C
	}
	for n := 1; ; n++ {
		select {
		case <-ticks.C:
			c.Progress(json.RawMessage(fmt.Sprintf(`{"progress":%d}`, n)))
		case <-over:
			return "worked to its end", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// withdraw asks, withdraws the question, and then waits for an answer that must not come.
func withdraw(ctx context.Context, c *mcpserver.Call, after int64, reason string) (string, error) {
	i := question(c.Client)
	if i < 0 || c.Client.Modern {
		return "", errors.New("this client cannot be asked something that is withdrawn then")
	}
	d := withdrawAfter
	if after > 0 {
		d = time.Duration(after) * time.Millisecond
	}
	if reason == "" {
		reason = "the doctor does not need the answer any more"
	}
	asking, cancel := context.WithTimeoutCause(ctx, d, withdrawal(reason))
	defer cancel()
	_, err := c.Ask(asking, questions[i].method, json.RawMessage(questions[i].params))
	if asking.Err() == nil {
		return "answered before it was withdrawn", err
	}
	pause(ctx, listens)
	return "withdrawn", nil
}

// result returns the result of a tool.
func result(text string, err error) json.RawMessage {
	failed := ""
	if err != nil {
		text, failed = err.Error(), `,"isError":true`
	}
	return append(jsontext.AppendString([]byte(`{"content":[{"type":"text","text":`), text), `}]`+failed+`}`...)
}

func nameOf(s os.Signal) string {
	if s == os.Interrupt {
		return "SIGINT"
	}
	return "SIGTERM"
}

// Serve serves the client that has started this process, and tells record what happens. signals gets SIGINT and
// SIGTERM. It returns when the client has ended the connection and has had the time to see that we do not leave.
func Serve(ctx context.Context, conn jsonrpc.Stream, signals <-chan os.Signal, version string, record func(Event)) {
	w := newWire(record, "stdio")
	p := newPlay(version, func(*mcpserver.Session) *wire { return w })
	defer record(Event{Kind: Left})
	defer p.close()
	served := make(chan struct{})
	go func() { // ends with the play
		defer close(served)
		if p.server.Serve(ctx, &stream{Stream: conn, wire: w}) == nil {
			record(Event{Kind: InputEnded})
		}
	}()
	select {
	case s := <-signals:
		record(Event{Kind: Signalled, Name: nameOf(s)})
		return
	case <-ctx.Done():
		return
	case <-served:
	}
	stay := time.NewTimer(linger)
	defer stay.Stop()
	select {
	case s := <-signals:
		record(Event{Kind: Signalled, Name: nameOf(s)})
	case <-ctx.Done():
	case <-stay.C:
	}
}
