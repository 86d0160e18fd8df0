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
	answers answers // only to what a server needs to start
	json    bool
	start   bool
	watch   bool
	checked bool // what is wrong with the config is told already
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

// lister asks an open hub for something and prints it.
type lister func(ctx context.Context, client *hubClient) int

// withHub opens a hub over the config of o, lets list work, and closes it.
func (o *listOptions) withHub(env environment, name, server string, list lister) int {
	if err := o.check(); err != nil {
		return usageError(env, name, err)
	}
	if err := o.answers.checkStart(); err != nil {
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

// over opens a hub over sources, lets list work, and closes it.
func (o *listOptions) over(env environment, name string, sources []*mcphubv1.ConfigSource, list lister) int {
	ctx, stop := interruptible()
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
	// All kinds, as for a call: a server offers what it offers by what its client can show.
	w, err := attach(ctx, client, &mcphubv1.Hello{Title: "mcphub " + name, PromptKinds: allKinds, SamplingTools: true})
	if err != nil {
		return o.fail(env, name, ctx, err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	d := newDoorman(env, w, o, end)
	defer d.leave()
	status := list(ctx, client)
	if status == exitOK && !whole && !o.checked { // the list is not what was asked for
		return exitServer
	}
	return status
}

// fail reports an error of the hub in the form that was asked for, and gives the exit status.
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
