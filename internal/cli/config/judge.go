package config

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

// bench is the house of a userenv.User without a hub: it provides what asking the login shell needs.
type bench struct {
	mu    sync.Mutex // held while a User's update runs
	tasks sync.WaitGroup
}

func (b *bench) Update(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *bench) Go(f func()) { b.tasks.Go(f) }

func (b *bench) Draining() bool { return false }

// judges returns a function that examines an entry as its start would. It asks the login shell if a program is not
// found. done ends the shell.
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

// tryStarts adds to the report the problems that the starts of the entries that count would find.
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

// add adds to an entry the problems that its start would find. A problem that the reader has reported for the same key
// is not reported again. If a key makes the start fail, that problem replaces the one of the reader.
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
