package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// sight is what a launch is at one moment, beyond what the config says of it: the program that would run, and what the
// envFile holds. What is shown and what is started are made of one sight, so that nothing can change in between.
type sight struct {
	// resolved is what would be started, unless err says why there is nothing.
	resolved config.Resolved
	err      error

	// The rest is known for processes of a workspace alone.

	program transport.Program // zero: not known
	unknown string            // why not
	own     bool              // the entry itself decides where the program is looked for
	// fromFile is what the envFile sets, loading what the variables that load code are set to in the end, PATH excepted:
	// what it leads to is the program.
	fromFile, loading map[string]string
}

// look resolves an entry and finds its program. Without the values of all inputs it sees as much as does not depend on
// them. It reads files, so it is called without the lock.
func (h *Hub) look(conf config.Server, v config.Variables, inputs map[string]string) sight {
	v.Input = func(id string) (string, bool) {
		value, ok := inputs[id]
		return value, ok
	}
	r, err := conf.Resolve(v)
	seen := sight{resolved: r, err: err}
	if !needsConsent(conf) || conf.URL != "" {
		return seen
	}
	if _, missing := errors.AsType[*config.MissingInputError](err); missing {
		for _, id := range conf.DecidingInputs() {
			if _, ok := inputs[id]; !ok {
				seen.unknown = fmt.Sprintf("it depends on the input %q, which has no value yet", id)
				return seen
			}
		}
		v.Input = standIns(conf, inputs)
		r, err = conf.Resolve(v)
	}
	if err != nil {
		seen.unknown = err.Error()
		return seen
	}
	env := transport.Environment(h.environ, r.Env)
	seen.program, err = transport.Find(transport.Command{Path: r.Command, Dir: r.Dir, Env: env})
	if err != nil {
		// Secrets of a stranger are not made known to the hub's redaction before there is a yes. The text may quote them, in
		// other letters.
		var own redact.Redactor
		own.Add(r.Secrets...)
		seen.unknown = own.Text(err.Error())
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

// standIns gives each input without a value one that its file allows: enough to see what does not depend on it.
func standIns(conf config.Server, inputs map[string]string) func(id string) (string, bool) {
	return func(id string) (string, bool) {
		if value, ok := inputs[id]; ok {
			return value, true
		}
		i := slices.IndexFunc(conf.Inputs, func(in config.Input) bool { return in.ID == id })
		if i >= 0 && len(conf.Inputs[i].Options) > 0 {
			return conf.Inputs[i].Options[0].Value, true
		}
		return "x", true
	}
}

// looked is what there is to agree to, and what would be started then.
type looked struct {
	sight
	form  launchForm   // of what needs consent
	key   string       // the launch key of what was looked at
	entry *configEntry // that was looked at; nil: there was none any more
}

// lookAt looks at an entry of s as it is now: what decides no launch, such as the tools that it allows, may have
// changed since conf was read.
func (h *Hub) lookAt(s *server, conf config.Server, inputs map[string]string) looked {
	l := looked{key: conf.LaunchKey()}
	var v config.Variables
	h.update(func() {
		if l.entry = s.entries.find(conf.Origin.File, l.key); l.entry != nil {
			conf = l.entry.conf
		}
		v = h.variables(conf)
	})
	l.sight = h.look(conf, v, inputs)
	if needsConsent(conf) {
		l.form = h.formOf(conf, v, l.sight)
	}
	return l
}

// refusal is why what was seen must not be started whatever the user says, nil when it may.
func (t sight) refusal() error {
	if e, ok := errors.AsType[*config.ResolveError](t.err); ok && e.Refused {
		return e
	}
	return nil
}
