package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// callOptions are the flags of mcphub call.
type callOptions struct {
	sourceFlags
	tool, args  string
	server      string
	requestID   string
	cancelAfter *time.Duration // nil: never
	reason      string
	answers     answers
	idle, total *time.Duration // nil: from the config; 0: no limit
	linger      time.Duration
	json        bool
}

func (o *callOptions) flags() *flag.FlagSet {
	set := newFlags("call")
	set.StringVar(&o.tool, "tool", "", "NAME\tname of the tool")
	set.StringVar(&o.args, "args", "", "JSON\targuments, an object")
	o.register(set)
	set.StringVar(&o.server, "server", "", "NAME\tname of the server in the config")
	set.StringVar(&o.requestID, "request-id", "", "ID\tid of the request; minted when absent")
	optionalDuration(set, &o.cancelAfter, "cancel-after", "DUR\tcancel the request this long after it started")
	set.StringVar(&o.reason, "reason", "cancelled from the command line", "TEXT\twhat the server is told when the request is cancelled")
	set.StringVar(&o.answers.approve, "approve", "", "allow|deny|hang\tanswer tool approvals; default: ask on a terminal, else deny")
	set.Func("elicit", "accept:JSON|decline|dismiss|hang\tanswer a server's form or page; default: dismiss", o.answers.setElicit)
	set.StringVar(&o.answers.sample, "sample", "decline", "TEXT|decline|hang\tanswer a server that asks for a completion; default: decline")
	optionalDuration(set, &o.idle, "idle-timeout", "DUR\tgive up after this long without a sign of life; 0: never")
	optionalDuration(set, &o.total, "total-timeout", "DUR\tgive up after this long in all; 0: never")
	set.DurationVar(&o.linger, "linger", 0, "DUR\tkeep the hub up this long after the end, so that late traffic is seen")
	set.BoolVar(&o.json, "json", false, "print every event, and last the response or the error, as lines of proto3 JSON")
	return set
}

// optionalDuration defines a duration flag that can tell 0 from absent.
func optionalDuration(set *flag.FlagSet, to **time.Duration, name, usage string) {
	set.Func(name, usage, func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil {
			return errors.New("a duration looks like 300ms, 1.5s or 2m")
		}
		if d < 0 {
			return errors.New("a duration cannot be negative")
		}
		*to = &d
		return nil
	})
}

func (o *callOptions) check() error {
	if o.tool == "" {
		return errors.New("which tool? --tool NAME; mcphub tools lists them")
	}
	if err := o.sourceFlags.check(); err != nil {
		return err
	}
	switch {
	case o.single() == "" && o.server == "":
		return errors.New("which server of the config? --server NAME; mcphub servers lists them")
	case o.single() != "" && o.server != "":
		return fmt.Errorf("--server names a server of a --config file; the server of --%s is the only one", o.single())
	case o.linger < 0:
		return errors.New("--linger: a duration cannot be negative")
	}
	if o.server == "" {
		o.server = o.single()
	}
	if o.requestID == "" {
		o.requestID = "cli-" + strings.ToLower(rand.Text()[:10])
	}
	return o.answers.check()
}

func (o *callOptions) request() *mcphubv1.CallToolRequest {
	r := &mcphubv1.CallToolRequest{RequestId: o.requestID, Server: o.server, Tool: o.tool, ArgumentsJson: o.args}
	if o.idle != nil || o.total != nil {
		r.Timeouts = &mcphubv1.Timeouts{Idle: optionalProto(o.idle), Total: optionalProto(o.total)}
	}
	return r
}

func optionalProto(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}

// answers are what the flags say to prompts.
type answers struct {
	approve string // allow, deny, hang, or "": ask
	elicit  string // accept, decline, dismiss, hang
	content string // JSON object of an accepted form
	sample  string // decline, hang, or the text of a completion
}

func (a *answers) setElicit(v string) error {
	action, content, has := strings.Cut(v, ":")
	switch {
	case action == "accept":
		if !has {
			content = "{}"
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(content), &object) != nil || object == nil {
			return errors.New(`after accept: comes a JSON object, accept:{"name":"Ada"} say`)
		}
	case has, action != "decline" && action != "dismiss" && action != "hang":
		return errors.New("it is accept:JSON, decline, dismiss or hang")
	}
	a.elicit, a.content = action, content
	return nil
}

func (a *answers) check() error {
	switch a.approve {
	case "", "allow", "deny", "hang":
	default:
		return fmt.Errorf("--approve %q: it is allow, deny or hang", a.approve)
	}
	if a.elicit == "" {
		a.elicit = "dismiss"
	}
	return nil
}
