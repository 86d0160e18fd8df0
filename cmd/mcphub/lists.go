package main

import (
	"context"
	"fmt"
	"io"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"github.com/spf13/pflag"
)

// listOptions are the flags of servers, tools, resources and prompts.
type listOptions struct {
	sourceFlags
	answers answers // only to the questions of starting servers
	json    bool
	start   bool
	watch   bool
	checked bool // the problems of the config were printed before
}

func (o *listOptions) flags(name string) *pflag.FlagSet {
	set := newFlags(name)
	o.register(set)
	o.answers.registerStart(set)
	set.BoolVar(&o.json, "json", false, "print each answer of the hub as one line of proto3 JSON")
	if name == "servers" {
		set.BoolVar(&o.start, "start", false, "start each server first")
		set.BoolVar(&o.watch, "watch", false, "then tell each change as it comes, until interrupted")
	}
	return set
}

// lister lists something with an open hub and prints it. It returns the exit status.
type lister func(ctx context.Context, client *hubClient) int

// withHub opens a hub with the config of o, calls list, and closes the hub.
func (o *listOptions) withHub(env environment, name, server string, list lister) int {
	if err := o.check(); err != nil {
		return usageError(env, name, err)
	}
	if err := o.answers.inputs.check(); err != nil {
		return usageError(env, name, err)
	}
	if flags := o.ofOneServer(); flags != "" && o.single() == "" && server == "" {
		return usageError(env, name, fmt.Errorf(
			"%s: this is for one server: name it, or set the keys env, era and timeouts in its config entry", flags))
	}
	sources, err := o.sources(server)
	if err != nil {
		return usageError(env, name, err)
	}
	return o.over(env, name, sources, list)
}

// over opens a hub with sources, calls list, and closes the hub.
func (o *listOptions) over(env environment, name string, sources []*mcphubv1.ConfigSource, list lister) int {
	ctx, stop := env.interruptible()
	defer stop()
	defer leaveAtOnce(ctx)()
	client, err := openHub(ctx, env)
	if err != nil {
		return o.fail(env, name, ctx, err)
	}
	defer closeHub(env, client, closeTime)
	load := env
	if o.checked {
		load.stderr = io.Discard
	}
	whole, err := loadConfig(ctx, load, client.Servers, sources, "")
	if err != nil {
		return o.fail(env, name, ctx, err)
	}
	// As for a call, although nothing is called: what a server offers may depend on what its client can show.
	terminal := env.interactive()
	w, err := attach(ctx, client, &mcphubv1.Hello{Title: "mcphub " + name, SamplingTools: true,
		PromptKinds: o.answers.kinds(terminal)})
	if err != nil {
		return o.fail(env, name, ctx, err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	d := newDoorman(env, w, o, terminal, end)
	defer d.leave()
	status := list(ctx, client)
	if status == exitOK && !whole && !o.checked { // a file could not be read, so the list is not complete
		return exitServer
	}
	return status
}

// fail prints an error of the hub in the format that the flags demand, and returns the exit status.
func (o *listOptions) fail(env environment, name string, ctx context.Context, err error) int {
	f := asFailure(err)
	if ctx.Err() != nil {
		f = &failure{Code: "CANCELLED", Message: context.Cause(ctx).Error()}
	}
	if o.json {
		printErrorLine(env.stdout, f)
	} else {
		env.tell("mcphub %s: %s", name, escape(f.message()))
	}
	return exitOf(f)
}
