package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"google.golang.org/protobuf/proto"
)

// flushTime bounds the wait for the last events after the window has been finished.
const flushTime = 2 * time.Second

// runRequest carries out the commands that make one request: call, read and prompt.
func runRequest(env environment, o *callOptions, words []string) int {
	command := o.command
	o.began = time.Now()
	err := o.take(words)
	if err == nil && o.wantsForm(env) {
		if status := o.fillForm(env); status != exitOK {
			return status
		}
		o.began = time.Now()
	}
	if err == nil {
		err = o.readArguments(env.stdin)
	}
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return usageError(env, command, err)
	}
	sources, err := o.sources(o.server)
	if err != nil {
		return usageError(env, command, err)
	}
	signals, stopSignals := env.interrupts()
	defer stopSignals()
	c := &call{env: env, options: o, terminal: env.interactive()}
	if c.live = newLiveLine(env.stderr); c.live != nil {
		c.env.stderr = c.live
	}
	c.tell, c.asker.env = newTeller(o.requestID), c.env
	c.tell.serves = o.server
	return c.run(sources, signals)
}

// call is one mcphub call, read or prompt. All its fields are owned by the goroutine of run.
type call struct {
	env      environment
	options  *callOptions
	terminal bool
	tell     *teller
	live     *liveLine // nil if the terminal cannot redraw a line
	client   *hubClient
	window   *window

	cancelTimer <-chan time.Time        // for --cancel-after; set once the server works on the request
	asker       asker                   // asks a person what the flags do not answer
	cancelled   bool                    // a cancel was sent
	counting    bool                    // cancelTimer was set
	stopLooking context.CancelCauseFunc // ends the look-up of the tool's schema before the call
	interrupted bool                    // the user has interrupted once
	undelivered bool                    // the request has ended, but its cancel is still being sent to the server
}

// deliveryWait is how long the end of a cancelled call waits for the outcome of the cancel. An interrupt ends the wait.
const deliveryWait = 5 * time.Second

// answer is the answer of a server to a request: its result or its error.
type answer interface {
	proto.Message
	GetResultJson() string
	GetError() *mcphubv1.McpError
}

// ending is how the request has ended: exactly one field is set.
type ending struct {
	response answer
	failure  *failure
}

// run opens the hub, makes the call, and closes the hub.
func (c *call) run(sources []*mcphubv1.ConfigSource, signals <-chan os.Signal) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stopWatch := onInterrupt(signals, func() { cancel(errInterrupted) })
	err := c.prepare(ctx, sources)
	stopWatch()
	limit := closeTime
	end := ending{}
	switch {
	case ctx.Err() != nil:
		end.failure = failuref("CANCELLED", "%v before the call", context.Cause(ctx))
	case err != nil:
		end.failure = asFailure(err)
	default:
		var hurried bool
		if end, hurried = c.callAndWatch(ctx, signals); hurried {
			limit = hurriedCloseTime
		}
	}
	cancel(errWindowClosed)
	c.asker.close()
	if c.window != nil {
		c.window.close()
	}
	status := c.report(end)
	if c.options.trace != "" {
		if err := c.saveTrace(); err != nil {
			c.env.tell("mcphub %s: no timeline was written: %s", c.options.command, escape(err.Error()))
			if status == exitOK {
				status = exitServer
			}
		}
	}
	if c.client != nil {
		closeHub(c.env, c.client, limit)
	}
	return status
}

// prepare opens the hub with its config, and attaches a window.
func (c *call) prepare(ctx context.Context, sources []*mcphubv1.ConfigSource) error {
	client, err := openHub(ctx, c.env)
	if err != nil {
		return err
	}
	c.client = client
	if _, err := loadConfig(ctx, c.env, client.Servers, sources, c.options.server); err != nil {
		return err
	}
	c.window, err = attach(ctx, client, &mcphubv1.Hello{Title: "mcphub " + c.options.command, SamplingTools: true,
		PromptKinds: c.options.answers.kinds(c.terminal)})
	if err != nil {
		return err
	}
	c.show(c.window.welcome)
	return nil
}

// callAndWatch makes the call, and does what the flags and the user demand, until the call has ended and every event
// was shown. hurried reports that the user did not want to wait for that.
func (c *call) callAndWatch(ctx context.Context, signals <-chan os.Signal) (end ending, hurried bool) {
	ctx, leave := context.WithCancelCause(ctx)
	ready, notReady := context.WithCancelCause(ctx)
	defer notReady(nil)
	c.stopLooking = notReady
	endings := make(chan ending, 1)
	var caller sync.WaitGroup
	caller.Go(func() {
		response, err := c.options.ask(ctx, ready, c.client)
		if err != nil {
			endings <- ending{failure: asFailure(err)}
			return
		}
		endings <- ending{response: response}
	})
	defer caller.Wait()
	defer leave(errInterrupted)

	var cancelAt <-chan time.Time
	if c.options.cancelAt != nil {
		cancelAt = time.After(*c.options.cancelAt - time.Since(c.options.began))
	}
	events := c.window.events
	over := false
	var lingered, flushed <-chan time.Time
	for {
		select {
		case event, ok := <-events:
			if !ok {
				if events = nil; over {
					return end, false
				}
				// The call goes on without a window; how it ends shows what happened to the hub.
				c.note("the window ended: %v", orDone(c.window.err))
				continue
			}
			c.show(event)
			c.act(event)
			if d := event.GetMcpRequestCancelDelivery(); over && d.GetRequestId() == c.options.requestID && d != nil {
				c.undelivered, lingered = false, time.After(0)
			}
		case end = <-endings:
			over = true
			if events == nil {
				return end, false
			}
			lingered = time.After(c.options.linger)
		case <-lingered:
			if c.undelivered { // wait once more, to learn the outcome of the cancel
				c.undelivered, lingered = false, time.After(deliveryWait)
				continue
			}
			c.window.finish()
			flushed = time.After(flushTime)
		case <-flushed:
			return end, false
		case <-c.cancelTimer:
			c.cancel(ctx, c.options.reason)
		case <-cancelAt:
			c.cancel(ctx, c.options.reason)
		case line := <-c.asker.lines():
			c.window.answer(c.asker.typed(line)...)
		case <-signals:
			if over {
				c.window.finish()
				flushed = time.After(flushTime)
				continue
			}
			if c.interrupted {
				c.note("left without waiting for the end")
				return ending{failure: failuref("CANCELLED", "left without waiting for the end")}, true
			}
			c.interrupted = true
			c.note("cancelling; interrupt again to leave at once")
			c.cancel(ctx, errInterrupted.Error())
		}
		if c.env.stdout.failed() != nil && !c.cancelled && !over {
			c.cancel(ctx, "nobody reads the output any more")
		}
	}
}

// act does what the flags demand for an event.
func (c *call) act(event *mcphubv1.AttachResponse) {
	switch e := event.GetEvent().(type) {
	case *mcphubv1.AttachResponse_McpRequestProgressed:
		// The time of --cancel-after starts once the server has the request: an earlier cancel would never reach it.
		p := e.McpRequestProgressed
		if p.GetRequestId() == c.options.requestID && c.options.cancelAfter != nil && !c.counting && atServer(p) {
			c.cancelTimer, c.counting = time.After(*c.options.cancelAfter), true
		}
	case *mcphubv1.AttachResponse_McpRequestCancelled:
		if e.McpRequestCancelled.GetRequestId() == c.options.requestID {
			c.undelivered = e.McpRequestCancelled.GetDelivery() == mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING
		}
	case *mcphubv1.AttachResponse_Snapshot:
		// A server that starts with the config may ask before this window is attached.
		for _, p := range e.Snapshot.GetPrompts() {
			if !c.options.json {
				c.repeat(p)
			}
			c.opened(p)
		}
	case *mcphubv1.AttachResponse_PromptOpened:
		c.opened(e.PromptOpened.GetPrompt())
	case *mcphubv1.AttachResponse_PromptClosed:
		c.window.answer(c.asker.closed(e.PromptClosed.GetPromptId())...)
	case *mcphubv1.AttachResponse_Reply:
		if why := c.window.dismissUnfit(e.Reply); why != "" {
			c.note("%s", why)
		}
	}
}

// atServer reports whether the request has been sent to its server.
func atServer(p *mcphubv1.McpRequestProgressed) bool {
	switch p.GetState() {
	case mcphubv1.RequestState_REQUEST_STATE_RUNNING, mcphubv1.RequestState_REQUEST_STATE_AWAITING_INPUT,
		mcphubv1.RequestState_REQUEST_STATE_TASK_WORKING:
		return true
	}
	return false
}

// opened answers a question according to the flags, or asks the person.
func (c *call) opened(p *mcphubv1.Prompt) {
	answer, note, ask := c.options.answers.answerTo(p, c.terminal)
	if c.options.json && (ask || p.GetSignIn() != nil) {
		c.repeat(p)
	}
	if note != "" {
		c.note("%s", note)
	}
	switch {
	case answer != nil:
		c.window.answer(answer)
	case ask:
		c.window.answer(c.asker.ask(p)...)
	}
}

// repeat shows a question to the person who has to answer it: with --json it was written to stdout, for a program.
func (c *call) repeat(p *mcphubv1.Prompt) {
	for _, line := range c.tell.question(p) {
		c.note("%s", line)
	}
}

// cancel cancels the request by the window, as a user would. Without a window it cancels as a host.
func (c *call) cancel(ctx context.Context, reason string) {
	c.cancelled = true
	c.stopLooking(errors.New(reason))
	select {
	case <-c.window.ended:
		// Without the stream only a unary call is left. Its outcome shows in the end of the call.
		ctx, done := context.WithTimeoutCause(ctx, flushTime, errors.New("the hub did not answer"))
		defer done()
		if _, err := c.client.Hub.CancelRequest(ctx, &mcphubv1.CancelRequestRequest{RequestId: c.options.requestID,
			Reason: reason}); err != nil {
			c.note("cancel: %v", asFailure(err))
		}
	default:
		c.window.cancelRequest("cancel", c.options.requestID, reason)
	}
}

// note writes an indented line for people to stderr.
func (c *call) note(format string, args ...any) { c.env.tell("  "+format, args...) }
