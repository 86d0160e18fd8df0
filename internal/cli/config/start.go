package config

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/session"
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

// start tries every enabled entry: it connects, initializes and closes. An error means that there was no hub to do
// that.
func (o *options) start(report *configReport, sources []config.Source) error {
	var names []string
	for _, s := range report.Servers {
		if s.Enabled {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	given := make([]*mcphubv1.ConfigSource, len(sources))
	for i, s := range sources {
		given[i] = &mcphubv1.ConfigSource{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder}
	}
	list := session.Options{Factory: o.Factory, Answers: o.answers, JSON: o.json, Checked: true}
	return list.Over("mcphub config check", given, func(ctx context.Context, client *door.Client) error {
		var mu sync.Mutex // guards missing
		var missing []config.Problem
		profiles := config.Read(sources).Profiles
		came := session.StartAll(ctx, client, names, func(server string) {
			of := missingTools(ctx, client, profiles, server)
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, of...)
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, t := range came {
			report.tried(t)
		}
		for _, p := range missing {
			report.Problems = append(report.Problems, problemReport(p))
		}
		return nil
	})
}

// tried adds the result of a start to the report.
func (r *configReport) tried(t session.Tried) {
	s := &r.Servers[slices.IndexFunc(r.Servers, func(s serverReport) bool { return s.Name == t.Name && s.Enabled })]
	s.Tried = &triedReport{OK: t.Err == nil, Took: t.Took.Round(time.Millisecond).String()}
	if t.Err == nil {
		s.Tried.Era, s.Tried.Revision = console.Word(t.Server.GetEra(), "ERA_"), t.Server.GetProtocolRevision()
		return
	}
	f := exit.FailureOf(t.Err)
	s.Tried.Reason, s.Verdict, s.Enabled = f.Reason, verdictBroken, false
	// The message of the hub begins with the server's name, and so does the text of a problem.
	message := strings.TrimPrefix(f.Message, fmt.Sprintf("server %q ", t.Name))
	p := problemReport{File: s.Origin.File, Line: s.Origin.Line, Column: 1, Server: t.Name, Message: message,
		Fatal: true}
	s.Problems, r.Problems = append(s.Problems, p), append(r.Problems, p)
}

// missingTools returns the problems of profiles that name tools of a ready server which the server does not have.
func missingTools(ctx context.Context, client *door.Client, profiles []config.Profile, server string) []config.Problem {
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
