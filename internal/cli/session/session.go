// Package session opens a hub for a command that makes no request: one that lists something, or starts servers.
//
// What must not live here: what is listed.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Options are the flags of a command that uses a hub without making a request: it lists, or starts servers.
type Options struct {
	*door.Factory
	source.Flags
	Answers questions.Answers // only to the questions of starting servers
	JSON    bool
	Checked bool                           // the problems of the config were printed before
	Changed func(*mcphubv1.AttachResponse) // gets each event, if the command goes on until it is interrupted
}

// Register defines the flags.
func (o *Options) Register(c *cobra.Command) {
	o.Flags.Register(c)
	o.Answers.RegisterStart(c.Flags())
	c.Flags().BoolVar(&o.JSON, "json", false, "print each answer of the hub as one line of proto3 JSON")
}

// With calls use with a hub that has the config of the flags. server is the one that the flags for one server mean.
func (o *Options) With(title, server string, use func(context.Context, *door.Client) error) error {
	if err := o.Check(); err != nil {
		return exit.Wrong(err)
	}
	if err := o.Answers.Inputs.Check(); err != nil {
		return exit.Wrong(err)
	}
	if flags := o.OfOneServer(); flags != "" && o.Single() == "" && server == "" {
		return exit.Wrongf(
			"%s: this is for one server: name it, or set the keys env, era and timeouts in its config entry", flags)
	}
	sources, err := o.Sources(server)
	if err != nil {
		return exit.Wrong(err)
	}
	return o.Over(title, sources, use)
}

// Over calls use with a hub that has the config of sources, and closes the hub. Questions of servers that start are
// answered meanwhile. An error is in the format that the flags demand.
func (o *Options) Over(title string, sources []*mcphubv1.ConfigSource,
	use func(context.Context, *door.Client) error) error {
	ctx, stop := o.InterruptibleOnce()
	defer stop()
	whole, err := o.session(ctx, title, sources, use)
	_, said := errors.AsType[exit.Status](err)
	_, mistaken := errors.AsType[*exit.Error](err)
	switch {
	case err == nil && !whole && !o.Checked: // a file could not be read, so the list is not complete
		return exit.Server
	case err == nil || said || mistaken:
		return err
	}
	f := *exit.FailureOf(err)
	if ctx.Err() != nil {
		f = exit.Failure{Code: "CANCELLED", Message: context.Cause(ctx).Error()}
	}
	f.JSON = o.JSON
	return &f
}

func (o *Options) session(ctx context.Context, title string, sources []*mcphubv1.ConfigSource,
	use func(context.Context, *door.Client) error) (whole bool, err error) {
	client, err := o.Open(ctx, door.StateDir("command-line"))
	if err != nil {
		return false, err
	}
	defer o.Close(client, door.CloseTime)
	problems := o.Streams
	if o.Checked {
		problems.Err = io.Discard
	}
	whole, err = source.Load(ctx, problems, client.Servers, sources, "")
	if err != nil {
		return false, err
	}
	// As for a call, although nothing is called: what a server offers may depend on what its client can show.
	terminal := o.Interactive()
	w, err := door.Attach(ctx, client, &mcphubv1.Hello{Title: title, SamplingTools: true,
		PromptKinds: o.Answers.Kinds(terminal)})
	if err != nil {
		return false, err
	}
	interruptible := ctx
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	p := questions.New(o.Streams, w, func(p *mcphubv1.Prompt) (*mcphubv1.PromptAnswer, string, bool) {
		return o.Answers.AnswerToStart(p, terminal)
	})
	var reader sync.WaitGroup
	reader.Go(func() {
		defer p.Close()
		o.read(interruptible, p, w, end)
	})
	defer reader.Wait()
	defer w.Close()
	return whole, use(ctx, client)
}

// read reads the window until it ends. If that is before the end of a command that watches, it ends the command. The
// end of ctx ends the window, too, perhaps before it has ended the command: that is the cause then.
func (o *Options) read(ctx context.Context, p *questions.Prompter, w *door.Window, end context.CancelCauseFunc) {
	for {
		select {
		case event, ok := <-w.Events:
			if !ok {
				if o.Changed != nil {
					end(cmp.Or(context.Cause(ctx), fmt.Errorf("the window ended: %v", door.OrDone(w.Err))))
				}
				return
			}
			p.Handle(event, false)
			if o.Changed != nil {
				o.Changed(event)
			}
		case line := <-p.Lines():
			p.Typed(line)
		}
	}
}

// startsAtOnce bounds how many servers are started at the same time, since each may be a package that must be
// downloaded first.
const startsAtOnce = 8

// Tried is the result of the start of a server.
type Tried struct {
	Name   string
	Server *mcphubv1.Server // nil if the start failed
	Err    error
	Took   time.Duration
}

// StartAll starts servers, several at once, each within its own connect timeout, and returns the results. An error is
// also in the server's last_error. If look is not nil, it is called for each server that is ready, and the server is
// then stopped again. Otherwise the servers keep running.
func StartAll(ctx context.Context, client *door.Client, names []string, look func(server string)) []Tried {
	var group sync.WaitGroup
	turns := make(chan struct{}, startsAtOnce)
	came := make([]Tried, len(names))
	for i, name := range names {
		group.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			began := time.Now()
			r, err := client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: name})
			came[i] = Tried{name, r.GetServer(), err, time.Since(began)}
			if err == nil && look != nil {
				look(name)
				// If this fails, the end of the hub stops the server.
				_, _ = client.Servers.StopServer(ctx, &mcphubv1.StopServerRequest{Server: name, Reason: "it was tried"})
			}
		})
	}
	group.Wait()
	return came
}
