package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// triedReport is the result of a start under --start.
type triedReport struct {
	OK       bool   `json:"ok"`
	Took     string `json:"took"` // a Go duration
	Era      string `json:"era,omitempty"`
	Revision string `json:"revision,omitempty"`
	Reason   string `json:"reason,omitempty"` // as in an error's detail; the message is among the problems
}

// start tries every enabled entry: it connects, initializes and closes. The status is not exitOK only if there was no
// hub to do that.
func (o *configOptions) start(env environment, report *configReport, sources []config.Source) int {
	var names []string
	for _, s := range report.Servers {
		if s.Enabled {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return exitOK
	}
	given := make([]*mcphubv1.ConfigSource, len(sources))
	for i, s := range sources {
		given[i] = &mcphubv1.ConfigSource{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder}
	}
	list := listOptions{answers: o.answers, json: o.json, checked: true}
	return list.over(env, "config check", given, func(ctx context.Context, client *hubClient) int {
		var mu sync.Mutex // guards missing
		var missing []config.Problem
		profiles := config.Read(sources).Profiles
		came := startAll(ctx, client, names, func(server string) {
			of := missingTools(ctx, client, profiles, server)
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, of...)
		})
		if ctx.Err() != nil {
			return list.fail(env, "config check", ctx, context.Cause(ctx))
		}
		for _, t := range came {
			report.tried(t)
		}
		for _, p := range missing {
			report.Problems = append(report.Problems, problemReport(p))
		}
		return exitOK
	})
}

// tried adds the result of a start to the report.
func (r *configReport) tried(t tried) {
	s := &r.Servers[slices.IndexFunc(r.Servers, func(s serverReport) bool { return s.Name == t.name && s.Enabled })]
	s.Tried = &triedReport{OK: t.err == nil, Took: t.took.Round(time.Millisecond).String()}
	if t.err == nil {
		s.Tried.Era, s.Tried.Revision = word(t.server.GetEra(), "ERA_"), t.server.GetProtocolRevision()
		return
	}
	f := asFailure(t.err)
	s.Tried.Reason, s.Verdict, s.Enabled = f.Reason, verdictBroken, false
	// The message of the hub begins with the server's name, and so does the text of a problem.
	message := strings.TrimPrefix(f.Message, fmt.Sprintf("server %q ", t.name))
	p := problemReport{File: s.Origin.File, Line: s.Origin.Line, Column: 1, Server: t.name, Message: message,
		Fatal: true}
	s.Problems, r.Problems = append(s.Problems, p), append(r.Problems, p)
}

// missingTools returns the problems of profiles that name tools of a ready server which the server does not have.
func missingTools(ctx context.Context, client *hubClient, profiles []config.Profile, server string) []config.Problem {
	none := map[string]bool{}
	if !slices.ContainsFunc(profiles, func(p config.Profile) bool { return len(p.MissingTools(server, none)) > 0 }) {
		return nil // no profile names tools of it, so they need not be listed
	}
	listed, err := client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: server})
	if err != nil || len(listed.GetTroubles()) > 0 {
		return nil // it is not known which tools it has
	}
	there := map[string]bool{}
	for _, t := range listed.GetTools() {
		there[t.GetName()] = true
	}
	var problems []config.Problem
	for _, p := range profiles {
		problems = append(problems, p.MissingTools(server, there)...)
	}
	return problems
}
