package grants

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/hub/userenv"
)

// Sight is what a launch is at one moment, beyond what the config says of it: the program that would run, and what the
// envFile holds. What is shown and what is started are made of one sight, so that nothing can change in between.
type Sight struct {
	// Resolved is what would be started, unless Err says why there is nothing.
	Resolved config.Resolved
	Err      error
	// The rest is known for processes, and what is not exported for those of a workspace alone.

	Program   transport.Program // zero: not known
	from      string            // where it was found, in words; "": the entry names the file itself
	unknown   string            // why not
	notFound  error             // why there is no program to run; the start of it fails with these words
	own       bool              // the entry itself decides where the program is looked for
	inherited []string          // names of the user's settings that the process gets
	// fromFile is what the envFile sets, loading what the variables that load code are set to in the end, PATH excepted:
	// what it leads to is the program.
	fromFile, loading map[string]string
}

// Finder looks for the program of an entry, and makes the environment that it would get.
type Finder func(w userenv.Wanted) userenv.Found

// Look resolves an entry and finds its program. Without the values of all inputs it sees as much as does not depend on
// them. It reads files.
func Look(conf config.Server, v config.Variables, inputs map[string]string, find Finder) Sight {
	v.Input = config.Inputs(inputs)
	r, err := conf.Resolve(v)
	seen := Sight{Resolved: r, Err: err}
	if conf.URL != "" {
		return seen
	}
	if !conf.Origin.NeedsConsent() {
		if err == nil {
			seen.find(r, transport.Own, find)
		}
		return seen
	}
	if _, missing := errors.AsType[*config.MissingInputError](err); missing {
		for _, id := range conf.DecidingInputs() {
			if _, ok := inputs[id]; !ok {
				seen.unknown = fmt.Sprintf("it depends on the input %q, which has no value yet", id)
				return seen
			}
		}
		v.Input = config.Inputs(conf.StandIns(inputs))
		r, err = conf.Resolve(v)
	}
	if err != nil {
		seen.unknown = err.Error()
		return seen
	}
	heir := transport.Stranger
	if !conf.Origin.OfWorkspace() || conf.Origin.Trusted {
		heir = transport.Own // somebody else wrote it, and the user's file it is: after a yes it is as if they had
	}
	if seen.find(r, heir, find); seen.notFound != nil {
		// Secrets of a stranger are not made known to the hub's redaction before there is a yes. The text may quote them, in
		// other letters.
		var own redact.Redactor
		own.Add(r.Secrets...)
		seen.unknown = own.Text(seen.notFound.Error())
	}
	seen.fromFile, seen.loading = r.FromFile, map[string]string{}
	seen.own = strings.ContainsAny(r.Command, `/\`)
	for name, value := range r.Env {
		switch {
		case strings.EqualFold(name, "PATH"):
			seen.own = true
		case value != nil && config.LoadsCode(name):
			seen.loading[name] = *value
		}
	}
	return seen
}

// find looks for the program, and keeps with what would be started how it would be.
func (seen *Sight) find(r config.Resolved, heir transport.Heir, find Finder) {
	f := find(userenv.Wanted{Command: r.Command, Dir: r.Dir, Env: r.Env, Heir: heir})
	seen.Program, seen.from, seen.inherited = f.Program, f.From, f.Inherited
	seen.Resolved.Program, seen.Resolved.Environ, seen.Resolved.Searched = f.Program.Path, f.Env, f.Searched
	seen.notFound = f.Err
}

// Missing tells why there is no program to run, without secrets, and which setting to change; "" when there is one.
func (seen *Sight) Missing() (setting, why string) {
	if seen.notFound == nil {
		return "", ""
	}
	setting, why = "command", seen.notFound.Error()
	if e, ok := errors.AsType[*transport.StartError](seen.notFound); ok {
		setting, why = cmp.Or(e.Setting, setting), e.Message
	}
	var own redact.Redactor // nothing of what is only looked at goes to the hub's
	own.Add(seen.Resolved.Secrets...)
	return setting, own.Text(why)
}

// Refusal is why what was seen must not be started whatever the user says, nil when it may.
func (seen *Sight) Refusal() error {
	if e, ok := errors.AsType[*config.ResolveError](seen.Err); ok && e.Refused {
		return e
	}
	return nil
}
