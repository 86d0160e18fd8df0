package doctor

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/nearmiss"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

// resolved returns the server with that name as the hub would start it, with the values of its references.
func (o *options) resolved(name string) (config.Resolved, error) {
	given, err := o.Sources(name)
	if err != nil {
		return config.Resolved{}, err
	}
	sources := make([]config.Source, len(given))
	for i, s := range given {
		var text []byte // nil: the file is read
		if s.GetJson() != "" {
			text = []byte(s.GetJson())
		}
		sources[i] = config.Source{Path: s.GetPath(), Scope: s.GetScope(), Dialect: s.GetDialect(), Folder: s.GetFolder(),
			JSON: text}
	}
	servers, problems := config.Load(sources)
	var names []string
	for _, s := range servers {
		if s.Name == name {
			return s.Resolve(o.variables())
		}
		names = append(names, s.Name)
	}
	for _, p := range problems {
		if p.Server == name || len(servers) == 0 {
			return config.Resolved{}, fmt.Errorf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
		}
	}
	return config.Resolved{}, fmt.Errorf("there is no server %q%s", name, nearmiss.Hint(name, names))
}

// variables returns the values of references: those of the environment, and those that the flags give.
func (o *options) variables() config.Variables {
	home, _ := os.UserHomeDir() // if it is not known, references to it are not replaced
	cwd, _ := os.Getwd()
	return config.Variables{Getenv: os.LookupEnv, Home: home, Cwd: cwd, Input: func(id string) (string, bool) {
		value, ok := o.inputs.Values[id]
		return value, ok
	}}
}

// ways returns the ways to reach the server. A URL without a transport is tried as a hub tries it.
func ways(conf config.Resolved) []doctor.Way {
	heir := process.Own
	if conf.Origin.OfWorkspace() {
		heir = process.Stranger
	}
	if conf.URL == "" {
		return []doctor.Way{{Transport: doctor.Stdio, Command: process.Command{
			Path: conf.Command, Program: conf.Program, Args: conf.Args, Dir: conf.Dir,
			Env: process.Environment(os.Environ(), heir, conf.Env),
		}}}
	}
	header := http.Header{}
	for name, value := range conf.Header {
		header.Set(name, value)
	}
	at := transport.HTTPOptions{URL: conf.URL, Header: header}
	if conf.Transport == config.TransportSSE {
		return []doctor.Way{{Transport: doctor.SSE, HTTP: at}}
	}
	return []doctor.Way{{Transport: doctor.HTTP, HTTP: at, OrSSE: conf.Transport == config.TransportAuto}}
}

// launchLine returns what is run or reached, for people.
func launchLine(conf config.Resolved) string {
	if conf.URL != "" {
		return conf.DisplayURL()
	}
	return strings.Join(append([]string{conf.Command}, conf.Args...), " ")
}
