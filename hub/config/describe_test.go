package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// describe writes servers and problems as text, every field that is not its default.
func describe(servers []Server, problems []Problem) string { return write(servers, problems, false) }

// describeAll adds the place of every field.
func describeAll(servers []Server, problems []Problem) string { return write(servers, problems, true) }

func write(servers []Server, problems []Problem, fields bool) string {
	var b strings.Builder
	line := func(key string, show bool, value any) {
		if show {
			fmt.Fprintf(&b, "  %s: %v\n", key, value)
		}
	}
	for _, s := range servers {
		o := s.Origin
		fmt.Fprintf(&b, "server %q from %s:%d (%s, %s)\n", s.Name, o.File, o.Line, o.Dialect, o.Scope)
		line("transport", s.Transport != TransportStdio, s.Transport)
		line("command", s.Transport == TransportStdio || s.Command != "",
			fmt.Sprintf("%q", append([]string{s.Command}, s.Args...)))
		line("url", s.URL != "", fmt.Sprintf("%q, shown as %q", s.URL, s.DisplayURL()))
		for _, name := range slices.Sorted(maps.Keys(s.Header)) {
			line("header "+name, true, fmt.Sprintf("%q", s.Header[name]))
		}
		line("oauth", !reflect.DeepEqual(s.OAuth, OAuth{}), fmt.Sprintf("%+v", s.OAuth))
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			if v := s.Env[name]; v == nil {
				line("env "+name, true, "unset")
			} else {
				line("env "+name, true, fmt.Sprintf("%q", *v))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.EnvRefs)) {
			line("from the environment "+name, true, fmt.Sprintf("%q", s.EnvRefs[name]))
		}
		line("bearer token from", s.BearerEnv != "", s.BearerEnv)
		line("envFile", s.EnvFile != "", fmt.Sprintf("%q", s.EnvFile))
		line("watch", s.Watch != nil, fmt.Sprintf("%q", s.Watch))
		line("start", s.Start != "", s.Start)
		if s.IdleStop != nil {
			line("idleStop", true, *s.IdleStop)
		}
		line("tools only", s.Tools.Only != nil, fmt.Sprintf("%q", s.Tools.Only))
		line("tools hidden", s.Tools.Hidden != nil, fmt.Sprintf("%q", s.Tools.Hidden))
		for _, in := range s.Inputs {
			line(fmt.Sprintf("input %q", in.ID), true, fmt.Sprintf("%q, secret %v, default %q, options %q", in.Description,
				in.Secret, in.Default, in.Options))
		}
		line("dir", s.Dir != "", fmt.Sprintf("%q", s.Dir))
		line("disabled", s.Disabled, true)
		for _, t := range []struct {
			name string
			d    *time.Duration
		}{{"connect", s.Timeouts.Connect}, {"idle", s.Timeouts.Idle}, {"total", s.Timeouts.Total},
			{"human", s.Timeouts.Human}} {
			if t.d != nil {
				line("timeout "+t.name, true, *t.d)
			}
		}
		for _, pattern := range slices.Sorted(maps.Keys(s.Approvals)) {
			line(fmt.Sprintf("approval %q", pattern), true, s.Approvals[pattern])
		}
		line("era", s.Era != "auto", s.Era)
		line("stop", s.Grace != Grace{}, fmt.Sprintf("stdin %v, terminate %v, kill %v", s.Grace.Stdin, s.Grace.Terminate,
			s.Grace.Kill))
		line("maxMessageBytes", s.MaxMessageBytes != 0, s.MaxMessageBytes)
		if !fields {
			continue
		}
		line("folder", o.Folder != "" || o.Trusted, fmt.Sprintf("%s, trusted %v", o.Folder, o.Trusted))
		for _, by := range s.Shadows {
			line("shadows", true, place(by))
		}
		if s.ShadowedBy != nil {
			line("shadowed by", true, place(*s.ShadowedBy))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
			p := s.Fields[name]
			fmt.Fprintf(&b, "    %s at %d:%d, %s\n", name, p.Line, p.Column, p.Key)
		}
	}
	for _, p := range problems {
		kind := "warning"
		if p.Fatal {
			kind = "fatal"
		}
		fmt.Fprintf(&b, "%s: %s\n", kind, p)
	}
	return b.String()
}
