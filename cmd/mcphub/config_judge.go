package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/userenv"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// bench is a house without a hub: what the login shell needs to be asked.
type bench struct {
	mu    sync.Mutex // guards what a User changes through Update
	tasks sync.WaitGroup
}

func (b *bench) Update(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *bench) Go(f func()) { b.tasks.Go(f) }

func (b *bench) Draining() bool { return false }

// judges looks at entries as their start would, with the login shell's answer where a program is not found without it.
// done ends the shell.
func judges(sources []config.Source) (judge func(config.Server) []config.Problem, done func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	var house bench
	user := userenv.Options{Environ: os.Environ(), Desktop: os.Getenv(handshake.EnvDesktop) == "1", House: &house,
		Life: ctx, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if executable, err := os.Executable(); err == nil {
		user.Printer = []string{executable, plugin.EnvironmentCommand}
	}
	m := launch.Maker{House: &house, User: userenv.New(user), Redactor: &redact.Redactor{}, Logger: user.Logger}
	var folders []string
	for _, s := range sources {
		if s.Folder != "" && !slices.Contains(folders, s.Folder) {
			folders = append(folders, s.Folder)
		}
	}
	m.SetFolders(folders)
	return func(s config.Server) []config.Problem { return m.Judge(ctx, s) }, func() {
		cancel(errors.New("all entries are judged"))
		house.tasks.Wait()
	}
}

// tryStarts adds to the report what the starts of the entries that count would find.
func (r *configReport) tryStarts(sources []config.Source, servers []config.Server) {
	judge, done := judges(sources)
	defer done()
	for _, s := range servers {
		if s.Disabled || s.ShadowedBy != nil {
			continue
		}
		i := slices.IndexFunc(r.Servers, func(to serverReport) bool {
			return to.Name == s.Name && to.Origin == reportOrigin(s.Origin) && to.Verdict == ""
		})
		if i < 0 {
			continue
		}
		r.add(&r.Servers[i], judge(s))
	}
}

// add gives an entry what its start would find. What the reader has said of the same key is not said again, and a start
// that fails for that key says it in its place.
func (r *configReport) add(s *serverReport, found []config.Problem) {
	read := slices.Clone(s.Problems)
	for _, f := range found {
		p := problemReport(f)
		said := func(q problemReport) bool { return q.Key == p.Key && p.Key != "" && slices.Contains(read, q) }
		if p.Fatal {
			r.Problems, s.Problems = slices.DeleteFunc(r.Problems, said), slices.DeleteFunc(s.Problems, said)
			s.Verdict, s.Enabled = verdictBroken, false
		} else if slices.ContainsFunc(read, said) {
			continue
		}
		s.Problems, r.Problems = append(s.Problems, p), append(r.Problems, p)
	}
}
