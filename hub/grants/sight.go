package grants

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/redact"
)

// Sight is what a launch is at one moment, as far as the config does not say it: the program that would run, and the
// content of the envFile. What is shown and what is started come from the same Sight, so that nothing can change in
// between.
type Sight struct {
	// Resolved is what would be started. If Err is not nil, nothing can be started.
	Resolved config.Resolved
	Err      error
	// The other fields are set for processes only. unknown, own, fromFile and loading are set only if the entry needs
	// consent.

	Program   process.Program // zero if unknown
	from      string          // where it was found, in words; "" if the entry names the file itself
	unknown   string          // why Program is unknown
	notFound  error           // why there is no program to run; a start fails with these words
	own       bool            // the entry itself decides where the program is searched for
	inherited []string        // names of the user's settings that the process gets
	// fromFile has the variables that the envFile sets. loading has the final values of the variables that load code,
	// except PATH, whose effect is Program.
	fromFile, loading map[string]string
}

// Finder finds the program of an entry, and makes the environment that the program would get.
type Finder func(w process.Wanted) process.Found

// Look resolves an entry and finds its program. If values of inputs are missing, the Sight has what does not depend on
// them. Look reads files.
func Look(conf config.Server, v config.Variables, inputs map[string]string, find Finder) Sight {
	v.Input = config.Inputs(inputs)
	r, err := conf.Resolve(v)
	seen := Sight{Resolved: r, Err: err}
	if conf.URL != "" {
		return seen
	}
	if !conf.Origin.NeedsConsent() {
		if err == nil {
			seen.find(r, process.Own, find)
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
	heir := process.Stranger
	if !conf.Origin.OfWorkspace() || conf.Origin.Trusted {
		heir = process.Own // another program wrote it into the user's own file: after consent it counts as the user's
	}
	if seen.find(r, heir, find); seen.notFound != nil {
		// A stranger's secrets are not added to the hub's redactor before there is consent. The text may quote them in an
		// escaped form.
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

// find finds the program, and records in seen.Resolved how it would be started.
func (seen *Sight) find(r config.Resolved, heir process.Heir, find Finder) {
	f := find(process.Wanted{Command: r.Command, Dir: r.Dir, Env: r.Env, Heir: heir})
	seen.Program, seen.from, seen.inherited = f.Program, f.From, f.Inherited
	seen.Resolved.Program, seen.Resolved.Environ, seen.Resolved.Searched = f.Program.Path, f.Env, f.Searched
	seen.notFound = f.Err
}

// Missing returns why there is no program to run, without secrets, and the setting to change. why is "" if there is
// one.
func (seen *Sight) Missing() (setting, why string) {
	if seen.notFound == nil {
		return "", ""
	}
	setting, why = "command", seen.notFound.Error()
	if e, ok := errors.AsType[*process.StartError](seen.notFound); ok {
		setting, why = cmp.Or(e.Setting, setting), e.Message
	}
	var own redact.Redactor // values that were only looked at are not added to the hub's redactor
	own.Add(seen.Resolved.Secrets...)
	return setting, own.Text(why)
}

// Refusal returns why what was seen must not be started even with consent, or nil if it may be started.
func (seen *Sight) Refusal() error {
	if e, ok := errors.AsType[*config.ResolveError](seen.Err); ok && e.Refused {
		return e
	}
	return nil
}
