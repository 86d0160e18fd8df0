package hub

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub/config"
)

// machine is what of this computer and user goes into a config: the same for the hub's whole life.
var machine = sync.OnceValue(func() (m struct{ home, cwd string }) {
	m.home, _ = os.UserHomeDir() // "" leaves the reference unresolved
	m.cwd, _ = os.Getwd()
	return m
})

// variables is what a server's references are resolved with, but for inputs. h.mu is held.
func (h *Hub) variables(conf config.Server) config.Variables {
	v := config.Variables{Getenv: h.getenv, Folders: map[string]string{}, Home: machine().home, Cwd: machine().cwd}
	for _, src := range h.sources {
		if src.Folder != "" {
			v.Folders[filepath.Base(src.Folder)] = src.Folder
		}
	}
	if f := conf.Origin.Folder; f != "" {
		v.Folders[filepath.Base(f)] = f
	}
	return v
}

func (h *Hub) getenv(name string) (string, bool) {
	for _, entry := range slices.Backward(h.environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Which references there are is for package config to say; until it does, those of VS Code files are read here.
var reference = regexp.MustCompile(`\$\{(input|env):([^}]*)\}`)

// eachText visits the texts of a copy of conf that may hold references.
func eachText(conf config.Server, visit func(string) string) config.Server {
	conf.Args, conf.Header, conf.Env = slices.Clone(conf.Args), maps.Clone(conf.Header), maps.Clone(conf.Env)
	conf.Command, conf.URL, conf.EnvFile = visit(conf.Command), visit(conf.URL), visit(conf.EnvFile)
	for i, a := range conf.Args {
		conf.Args[i] = visit(a)
	}
	for _, name := range slices.Sorted(maps.Keys(conf.Env)) {
		if value := conf.Env[name]; value != nil {
			text := visit(*value)
			conf.Env[name] = &text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(conf.Header)) {
		conf.Header[name] = visit(conf.Header[name])
	}
	return conf
}

// resolve puts values in for the references of a server.
func resolve(conf config.Server, v config.Variables) (config.Resolved, error) {
	var r config.Resolved
	var missing error
	r.Server = eachText(conf, func(text string) string {
		return reference.ReplaceAllStringFunc(text, func(m string) string {
			parts := reference.FindStringSubmatch(m)
			look := v.Getenv
			if parts[1] == "input" {
				look = v.Input
			}
			value, ok := look(parts[2])
			if !ok && parts[1] == "input" {
				missing = errors.New("it refers to an input that its file does not have")
			}
			if ok {
				r.Secrets = append(r.Secrets, value)
			}
			return value
		})
	})
	for _, value := range r.Env {
		if value != nil {
			r.Secrets = append(r.Secrets, *value)
		}
	}
	for _, value := range r.Header {
		r.Secrets = append(r.Secrets, value)
		if _, token, ok := strings.Cut(value, " "); ok {
			r.Secrets = append(r.Secrets, token)
		}
	}
	o := r.OAuth
	r.Secrets = append(r.Secrets, o.ClientSecret, o.PrivateKeyPEM, o.WorkloadToken, o.IDP.IDToken)
	return r, missing
}

// shown is a server as a person is asked about it.
func shown(conf config.Server, _ config.Variables) config.Server { return conf }

// inputIDs are the inputs that a server refers to, in the order of their first use.
func inputIDs(conf config.Server) (ids []string) {
	eachText(conf, func(text string) string {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			if m[1] == "input" && !slices.Contains(ids, m[2]) {
				ids = append(ids, m[2])
			}
		}
		return text
	})
	return ids
}

// references are the variables of the hub's environment, and the files, that a server refers to.
func references(conf config.Server) (env, files []string) {
	eachText(conf, func(text string) string {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			if m[1] == "env" && !slices.Contains(env, m[2]) {
				env = append(env, m[2])
			}
		}
		return text
	})
	slices.Sort(env)
	return env, nil
}
