// Package call has the commands that make one request: call, read and prompt.
//
// What must not live here: how events and questions are described, which other commands do, too.
package call

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/events"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// flushTime bounds the wait for the last events after the window has been finished.
const flushTime = 2 * time.Second

// run makes the request that the flags and words describe.
func (o *options) run(words []string) error {
	o.began = time.Now()
	if err := o.take(words); err != nil {
		return exit.Wrong(err)
	}
	if o.wantsForm() {
		if err := o.fillForm(); err != nil {
			return err
		}
		o.began = time.Now()
	}
	err := o.readArguments(o.In)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return exit.Wrong(err)
	}
	sources, err := o.Sources(o.server)
	if err != nil {
		return exit.Wrong(err)
	}
	signals, stopSignals := o.Interrupts()
	defer stopSignals()
	c := &call{Streams: o.Streams, options: o, terminal: o.Interactive(), teller: events.NewTeller(o.requestID)}
	if c.live = console.NewLiveLine(o.Err); c.live != nil {
		c.Err = c.live
	}
	c.teller.Serves = o.server
	if status := c.run(sources, signals); status != exit.OK {
		return status
	}
	return nil
}

// call is one mcphub call, read or prompt. All its fields are owned by the goroutine of run.
type call struct {
	console.Streams // its stderr may have a line with the progress
	options         *options
	terminal        bool
	teller          *events.Teller
	live            *console.LiveLine // nil if the terminal cannot redraw a line
	client          *door.Client
	window          *door.Window
	prompter        *questions.Prompter // nil without a window

	cancelTimer <-chan time.Time        // for --cancel-after; set once the server works on the request
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
	failure  *exit.Failure
}

// run opens the hub, makes the call, and closes the hub.
func (c *call) run(sources []*mcphubv1.ConfigSource, signals <-chan os.Signal) exit.Status {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stopWatch := door.OnInterrupt(signals, func() { cancel(door.ErrInterrupted) })
	err := c.prepare(ctx, sources)
	stopWatch()
	limit := door.CloseTime
	end := ending{}
	switch {
	case ctx.Err() != nil:
		end.failure = exit.Failf("CANCELLED", "%v before the call", context.Cause(ctx))
	case err != nil:
		end.failure = exit.FailureOf(err)
	default:
		var hurried bool
		if end, hurried = c.callAndWatch(ctx, signals); hurried {
			limit = door.HurriedCloseTime
		}
	}
	cancel(door.ErrWindowClosed)
	if c.window != nil {
		c.prompter.Close()
		c.window.Close()
	}
	status := c.report(end)
	if c.options.trace != "" {
		if err := c.saveTrace(); err != nil {
			c.Tell("mcphub %s: no timeline was written: %s", c.options.command, console.Escape(err.Error()))
			if status == exit.OK {
				status = exit.Server
			}
		}
	}
	if c.client != nil {
		c.options.Close(c.client, limit)
	}
	return status
}

// prepare opens the hub with its config, and attaches a window.
func (c *call) prepare(ctx context.Context, sources []*mcphubv1.ConfigSource) error {
	client, err := c.options.Open(ctx, door.StateDir("command-line"))
	if err != nil {
		return err
	}
	c.client = client
	if _, err := source.Load(ctx, c.Streams, client.Servers, sources, c.options.server); err != nil {
		return err
	}
	c.window, err = door.Attach(ctx, client, &mcphubv1.Hello{Title: "mcphub " + c.options.command, SamplingTools: true,
		PromptKinds: c.options.answers.Kinds(c.terminal)})
	if err != nil {
		return err
	}
	c.prompter = questions.New(c.Streams, c.window, func(p *mcphubv1.Prompt) (*mcphubv1.PromptAnswer, string, bool) {
		return c.options.answers.AnswerTo(p, c.terminal)
	})
	c.prompter.Brief = c.options.json // the questions are on stdout, for a program
	c.show(c.window.Welcome)
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
			endings <- ending{failure: exit.FailureOf(err)}
			return
		}
		endings <- ending{response: response}
	})
	defer caller.Wait()
	defer leave(door.ErrInterrupted)

	var cancelAt <-chan time.Time
	if c.options.cancelAt != nil {
		cancelAt = time.After(*c.options.cancelAt - time.Since(c.options.began))
	}
	events := c.window.Events
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
				c.note("the window ended: %v", door.OrDone(c.window.Err))
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
			c.window.Finish()
			flushed = time.After(flushTime)
		case <-flushed:
			return end, false
		case <-c.cancelTimer:
			c.cancel(ctx, c.options.reason)
		case <-cancelAt:
			c.cancel(ctx, c.options.reason)
		case line := <-c.prompter.Lines():
			c.prompter.Typed(line)
		case <-signals:
			if over {
				c.window.Finish()
				flushed = time.After(flushTime)
				continue
			}
			if c.interrupted {
				c.note("left without waiting for the end")
				return ending{failure: exit.Failf("CANCELLED", "left without waiting for the end")}, true
			}
			c.interrupted = true
			c.note("cancelling; interrupt again to leave at once")
			c.cancel(ctx, door.ErrInterrupted.Error())
		}
		if c.Out.Failed() != nil && !c.cancelled && !over {
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
	}
	c.prompter.Handle(event, !c.options.json)
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

// cancel cancels the request by the window, as a user would. Without a window it cancels as a host.
func (c *call) cancel(ctx context.Context, reason string) {
	c.cancelled = true
	c.stopLooking(errors.New(reason))
	select {
	case <-c.window.Ended:
		// Without the stream only a unary call is left. Its outcome shows in the end of the call.
		ctx, done := context.WithTimeoutCause(ctx, flushTime, errors.New("the hub did not answer"))
		defer done()
		if _, err := c.client.Hub.CancelRequest(ctx, &mcphubv1.CancelRequestRequest{RequestId: c.options.requestID,
			Reason: reason}); err != nil {
			c.note("cancel: %v", exit.FailureOf(err))
		}
	default:
		c.window.CancelRequest("cancel", c.options.requestID, reason)
	}
}

// note writes an indented line for people to stderr.
func (c *call) note(format string, args ...any) { c.Tell("  "+format, args...) }
