package config

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	domain "github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// The verdicts on an entry. The first one that applies counts.
const (
	verdictBroken   = "broken"   // it cannot be used, or its start would fail
	verdictReplaced = "replaced" // another entry with its name counts
	verdictDisabled = "disabled"
	verdictWarning  = "warning" // it counts, but there is a warning
	verdictOK       = "ok"
)

// configReport is the result of mcphub config check, which --json prints. It never holds the value of an argument, a
// variable, a header or a query.
type configReport struct {
	Servers []serverReport `json:"servers"`
	// Problems are all problems, including those of the servers.
	Problems []problemReport `json:"problems"`
	Files    []fileReport    `json:"files"`
}

// serverReport is one entry, even if it is broken or does not count.
type serverReport struct {
	Name      string       `json:"name"`
	Dialect   string       `json:"dialect"`
	Origin    originReport `json:"origin"`
	Transport string       `json:"transport"` // "" for a broken entry
	// Enabled says whether the hub would start it. A broken, disabled or replaced entry is not started.
	Enabled  bool            `json:"enabled"`
	Timeouts timeoutReport   `json:"timeouts"`
	Problems []problemReport `json:"problems"`

	Verdict    string                 `json:"verdict"`
	Command    string                 `json:"command,omitempty"`
	Arguments  int                    `json:"arguments,omitempty"` // their number
	URL        string                 `json:"url,omitempty"`       // without its query
	Start      string                 `json:"start,omitempty"`
	Watch      []string               `json:"watch,omitempty"`
	Inputs     []string               `json:"inputs,omitempty"` // ids
	Shadows    []originReport         `json:"shadows,omitempty"`
	ShadowedBy *originReport          `json:"shadowedBy,omitempty"`
	Fields     map[string]fieldReport `json:"fields,omitempty"` // by their names in the normal form

	Tried *triedReport `json:"tried,omitempty"` // with --start

	remote bool
}

type originReport struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Scope  string `json:"scope"`
	Folder string `json:"folder,omitempty"`
}

// timeoutReport holds the timeouts that apply, as Go durations: the entry's, or else the hub's defaults. "0s" is no
// limit.
type timeoutReport struct {
	Connect string `json:"connect"`
	Idle    string `json:"idle"`
	Total   string `json:"total"`
}

type fieldReport struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Key    string `json:"key"`
}

type problemReport struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Server  string `json:"server"`
	Key     string `json:"key"`
	Message string `json:"message"`
	Fatal   bool   `json:"fatal"`
}

// fileReport is a file that was read.
type fileReport struct {
	File    string `json:"file"`
	Scope   string `json:"scope"`
	Dialect string `json:"dialect,omitempty"` // if its place or a flag says so
	Folder  string `json:"folder,omitempty"`
}

// judge reads the sources and returns a report with its verdict on each entry, as its start would find it. The entries
// are in the order of the sources, and within one file in the order of the file.
func judge(sources []config.Source) configReport {
	servers, problems := config.All(sources)
	r := configReport{Servers: []serverReport{}, Problems: []problemReport{}, Files: []fileReport{}}
	rank := map[string]int{}
	for i, src := range sources {
		if _, again := rank[src.Path]; !again {
			rank[src.Path] = i
			r.Files = append(r.Files, fileReport{File: src.Path, Scope: cmp.Or(src.Scope, "host"), Dialect: src.Dialect,
				Folder: src.Folder})
		}
	}
	for _, s := range servers {
		r.Servers = append(r.Servers, reportServer(s))
	}
	for _, p := range problems {
		r.Problems = append(r.Problems, problemReport(p))
	}
	r.addBroken()
	r.share()
	r.tryStarts(sources, servers)
	r.sort(sources)
	for i := range r.Servers {
		s := &r.Servers[i]
		if s.Verdict == "" && len(s.Problems) > 0 {
			s.Verdict = verdictWarning
		}
		s.Verdict = cmp.Or(s.Verdict, verdictOK)
	}
	sort.SliceStable(r.Servers, func(i, j int) bool {
		a, b := r.Servers[i].Origin, r.Servers[j].Origin
		return cmp.Or(cmp.Compare(rank[a.File], rank[b.File]), cmp.Compare(a.Line, b.Line)) < 0
	})
	return r
}

// sort sorts the problems in the order of the sources, and within one file in the order of the file.
func (r *configReport) sort(sources []config.Source) {
	rank := func(file string) int {
		return slices.IndexFunc(sources, func(s config.Source) bool { return s.Path == file })
	}
	sort.SliceStable(r.Problems, func(i, j int) bool {
		a, b := &r.Problems[i], &r.Problems[j]
		return cmp.Or(cmp.Compare(rank(a.File), rank(b.File)), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column)) < 0
	})
}

func reportServer(s config.Server) serverReport {
	pick := func(d *time.Duration, otherwise time.Duration) string {
		if d == nil {
			d = &otherwise
		}
		return d.String()
	}
	r := serverReport{
		Name: s.Name, Dialect: s.Origin.Dialect, Origin: reportOrigin(s.Origin),
		Transport: cmp.Or(s.Transport, config.TransportStdio),
		Enabled:   !s.Disabled && s.ShadowedBy == nil,
		Timeouts: timeoutReport{
			Connect: pick(s.Timeouts.Connect, domain.DefaultConnectTimeout),
			Idle:    pick(s.Timeouts.Idle, domain.DefaultIdleTimeout),
			Total:   pick(s.Timeouts.Total, domain.DefaultTotalTimeout),
		},
		Problems: []problemReport{},
		Command:  s.Command, Arguments: len(s.Args), URL: s.DisplayURL(), Start: cmp.Or(s.Start, config.StartLazy),
		Watch: s.Watch, Inputs: s.InputIDs(),
		Fields: map[string]fieldReport{},
		remote: s.URL != "",
	}
	for _, o := range s.Shadows {
		r.Shadows = append(r.Shadows, reportOrigin(o))
	}
	switch {
	case s.ShadowedBy != nil:
		o := reportOrigin(*s.ShadowedBy)
		r.Verdict, r.ShadowedBy = verdictReplaced, &o
	case s.Disabled:
		r.Verdict = verdictDisabled
	}
	for name, p := range s.Fields {
		r.Fields[name] = fieldReport(p)
	}
	return r
}

func reportOrigin(o config.Origin) originReport {
	return originReport{File: o.File, Line: o.Line, Scope: o.Scope, Folder: o.Folder}
}

// addBroken adds the entries of which the config has only problems. Only the place of such an entry is known.
func (r *configReport) addBroken() {
	type entry struct{ file, name string }
	seen := map[entry]bool{}
	for _, p := range r.Problems {
		e := entry{p.File, p.Server}
		if !p.Fatal || p.Server == "" || seen[e] {
			continue
		}
		seen[e] = true
		s := serverReport{
			Name: p.Server, Origin: originReport{File: p.File, Line: p.Line}, Verdict: verdictBroken,
			Problems: []problemReport{},
			Timeouts: timeoutReport{
				Connect: domain.DefaultConnectTimeout.String(), Idle: domain.DefaultIdleTimeout.String(),
				Total: domain.DefaultTotalTimeout.String(),
			},
		}
		for _, f := range r.Files {
			if f.File == p.File {
				s.Dialect, s.Origin.Scope, s.Origin.Folder = f.Dialect, f.Scope, f.Folder
			}
		}
		for _, sound := range r.Servers {
			if sound.Origin.File == p.File && sound.Dialect != "" {
				s.Dialect = cmp.Or(s.Dialect, sound.Dialect)
			}
		}
		r.Servers = append(r.Servers, s)
	}
}

// share assigns each problem to its entry. If a file has several entries with the name, it is the last one that begins
// before the problem.
func (r *configReport) share() {
	for _, p := range r.Problems {
		var to *serverReport
		for i := range r.Servers {
			s := &r.Servers[i]
			if p.Server == "" || s.Name != p.Server || s.Origin.File != p.File || p.Fatal && s.Verdict != verdictBroken {
				continue
			}
			if to == nil || s.Origin.Line <= p.Line && s.Origin.Line > to.Origin.Line {
				to = s
			}
		}
		if to != nil {
			to.Problems = append(to.Problems, p)
		}
	}
}

// broken reports whether something cannot be used.
func (r *configReport) broken() bool {
	return slices.ContainsFunc(r.Problems, func(p problemReport) bool { return p.Fatal })
}

// runs returns what the hub would run or connect to, without what may be secret.
func (s *serverReport) runs() string {
	switch {
	case s.Transport == "":
		return "-"
	case s.remote && s.URL == "":
		return "an address with variables in it"
	case s.remote:
		return s.URL
	case s.Arguments == 1:
		return s.Command + " and 1 argument"
	case s.Arguments > 1:
		return s.Command + " and " + console.Plural(s.Arguments, "argument")
	}
	return s.Command
}

// told returns the verdict for people.
func (s *serverReport) told() string {
	switch {
	case s.ShadowedBy != nil:
		return verdictReplaced + " by " + console.Place(s.ShadowedBy.File, int32(s.ShadowedBy.Line))
	case s.Tried != nil && s.Tried.OK:
		return s.Verdict + ", started in " + s.Tried.Took + " (" + s.Tried.Era + ", " + s.Tried.Revision + ")"
	case len(s.Problems) == 0 || s.Verdict == verdictWarning || s.Verdict == verdictBroken:
		return s.Verdict
	}
	return s.Verdict + ", with " + console.Plural(len(s.Problems), "warning")
}

// toldTimeout returns a timeout for people.
func toldTimeout(s string) string {
	if s == "0s" {
		return "none"
	}
	// 1h0m0s means the same as 1h.
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-len(zero)+1]
		}
	}
	return s
}

// noHub is a hub without servers, for a process.User: it provides what asking the login shell needs.
type noHub struct {
	mu    sync.Mutex // held while a User's update runs
	tasks sync.WaitGroup
}

func (b *noHub) Update(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *noHub) Go(f func()) { b.tasks.Go(f) }

func (b *noHub) Draining() bool { return false }

// policyFile is the file of the system's managed policy. Tests have one of their own.
var policyFile = domain.SystemPolicyFile()

// judges returns a function that examines an entry as its start would, for the system's managed policy, too. It asks
// the login shell if a program is not found. done ends the shell.
func judges(sources []config.Source) (judge func(config.Server) []config.Problem, done func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	var hub noHub
	user := process.UserOptions{Environ: os.Environ(), Desktop: os.Getenv(handshake.EnvDesktop) == "1", Hub: &hub,
		Life: ctx, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if executable, err := os.Executable(); err == nil {
		user.Printer = []string{executable, plugin.EnvironmentCommand}
	}
	r := grants.Resolver{User: process.NewUser(user)}
	var folders []string
	for _, s := range sources {
		if s.Folder != "" && !slices.Contains(folders, s.Folder) {
			folders = append(folders, s.Folder)
		}
	}
	r.SetFolders(folders)
	policies := domain.SystemPolicies(policyFile)
	return func(s config.Server) []config.Problem {
			found := r.Judge(ctx, s)
			if len(policies) == 0 {
				return found
			}
			if no := core.JudgePolicies(policies, r.Identity(ctx, s)); no != nil {
				found = append(found, s.ProblemAt("", "is not started: "+no.Text()+"; ask your administrator", true))
			}
			return found
		}, func() {
			cancel(errors.New("all entries are judged"))
			hub.tasks.Wait()
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
