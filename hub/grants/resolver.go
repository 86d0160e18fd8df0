package grants

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/process"
)

// Resolver looks at entries of the config on this machine: what would run, and whether that needs a consent.
type Resolver struct {
	Grants *Store        // may be nil for Judge
	User   *process.User // the user whose environment is used
	OnForm func()        // for tests: called for each form that is made; may be nil

	// Refuses returns which rule of a managed policy refuses a launch, nil if none does. It looks at the launch if there
	// are policies. Refuses may be nil.
	Refuses func(look func() *event.LaunchIdentity) *event.LaunchRefusal

	// folders are the workspace folders of the config's files. They are set with the lock, and are also read without it.
	folders atomic.Pointer[[]string]
}

// SetFolders sets the workspace folders that the files of the config belong to.
func (m *Resolver) SetFolders(folders []string) { m.folders.Store(&folders) }

// Entry is one entry of the config, with what is derived from its texts. A stranger may choose how long these texts
// are, so an Entry is made without the lock. Only its fields Form and Refusal change.
type Entry struct {
	Conf  config.Server
	Key   string // Conf's launch key
	Watch string // the folder that the patterns in Conf.Watch are relative to
	Of    string // name in the config, if Conf.Name is an address: see Beside
	// Refusal says which rule of a managed policy refused its launch at the last look, nil = none. It is guarded by the
	// hub's lock.
	Refusal *event.LaunchRefusal
	// Form is what there was to agree to at the last look. It is nil if the entry needs no consent. It is guarded by the
	// hub's lock.
	Form *Form
}

// Entries are the entries of one name. The first one counts if the user has agreed to all.
type Entries []*Entry

// Entries makes the entries of what was read under one name. It may read files, so it is called without the lock.
func (m *Resolver) Entries(conf config.Server) Entries {
	behind := conf.Behind
	conf.Behind = nil
	all := Entries{m.entry(conf)}
	for _, b := range behind {
		all = append(all, m.entry(b))
	}
	return all
}

func (m *Resolver) entry(conf config.Server) *Entry {
	v := m.variables(now(), conf)
	e := &Entry{Conf: conf, Key: conf.LaunchKey(), Form: m.formNow(conf, v), Refusal: m.refusalNow(conf)}
	if len(conf.Watch) > 0 {
		e.Watch = watchFolder(conf, v)
	}
	return e
}

// Anew looks again at entries that stay although the workspace folders may have changed. It is called without the lock.
// keep stores what was seen, and is called with the lock.
func (m *Resolver) Anew(old Entries) (keep func()) {
	forms, refusals := make([]*Form, len(old)), make([]*event.LaunchRefusal, len(old))
	for i, e := range old {
		forms[i], refusals[i] = m.formNow(e.Conf, m.variables(now(), e.Conf)), m.refusalNow(e.Conf)
	}
	return func() {
		for i, e := range old {
			e.Form, e.Refusal = forms[i], refusals[i]
		}
	}
}

// formNow returns the form of an entry as far as it is known without the values of inputs, or nil if the entry needs no
// consent. It is called without the lock.
func (m *Resolver) formNow(conf config.Server, v config.Variables) *Form {
	if !conf.Origin.NeedsConsent() {
		return nil
	}
	f := m.form(conf, v, Look(conf, v, nil, m.finder(now())))
	return &f
}

// form makes a form. It takes time that a stranger chooses, and may read a file, so it is called without the lock.
func (m *Resolver) form(conf config.Server, v config.Variables, seen Sight) Form {
	if m.OnForm != nil {
		m.OnForm()
	}
	return m.Grants.Form(conf, v, seen)
}

// Look returns what would run of an entry, with these values of its inputs, and, if the entry needs a consent, what
// there is to agree to. It may wait for the login shell, within ctx, so it is called without the lock.
func (m *Resolver) Look(ctx context.Context, conf config.Server, values map[string]string) (seen Sight, f Form) {
	v := m.variables(ctx, conf)
	seen = Look(conf, v, values, m.finder(ctx))
	if conf.Origin.NeedsConsent() {
		f = m.form(conf, v, seen)
	}
	return seen, f
}

// Resolve replaces the references of an entry by their values, without waiting for the login shell.
func (m *Resolver) Resolve(conf config.Server, values map[string]string) (config.Resolved, error) {
	v := m.variables(now(), conf)
	v.Input = config.Inputs(values)
	return conf.Resolve(v)
}

// now returns a context that has ended, for a look that must not wait: the login shell may not have answered yet. When
// it has, the hub looks at the config again.
func now() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errNotWaiting)
	return ctx
}

var errNotWaiting = errors.New("a look at what is known now")

// finder returns a Finder that waits for the login shell within ctx.
func (m *Resolver) finder(ctx context.Context) Finder {
	return func(w process.Wanted) process.Found { return m.User.Find(ctx, w) }
}

// machine has the properties of this computer and user that a config may refer to. They stay the same as long as the
// hub lives.
var machine = sync.OnceValue(func() (m struct{ home, cwd string }) {
	m.home, _ = os.UserHomeDir() // "" leaves the reference unresolved
	m.cwd, _ = os.Getwd()
	return m
})

// variables returns what the references of a server are resolved with, except inputs.
func (m *Resolver) variables(ctx context.Context, conf config.Server) config.Variables {
	v := config.Variables{Folders: map[string]string{}, Home: machine().home, Cwd: machine().cwd,
		IsFolder: isFolder}
	if folders := m.folders.Load(); folders != nil {
		for _, f := range *folders {
			v.Folders[filepath.Base(f)] = f
		}
	}
	if f := conf.Origin.Folder; f != "" {
		v.Folders[filepath.Base(f)] = f
	}
	if conf.URL != "" { // wait for the login shell only if the config has variables
		if names, _ := conf.References(v); len(names) == 0 {
			ctx = now()
		}
	}
	v.Getenv = config.LookupEnv(m.User.Base(ctx), runtime.GOOS)
	return v
}

// watchFolder returns the folder that the patterns of a server are relative to: the server's directory if the config
// names one, else that of the file. If the name of the directory is known only at the start (from the environment or
// from an input), the result is a path that does not exist, and nothing is found there.
func watchFolder(conf config.Server, v config.Variables) string {
	if conf.Dir != "" {
		if dir := conf.Shown(v).Dir; filepath.IsAbs(dir) {
			return dir
		}
	}
	base := conf.Origin.Folder
	if base == "" || !conf.Origin.OfWorkspace() {
		base = filepath.Dir(conf.Origin.File)
	}
	return filepath.Join(base, conf.Dir)
}

// Find returns the entry of a file that has the launch key.
func (all Entries) Find(file, key string) *Entry {
	for _, e := range all {
		if e.Conf.Origin.File == file && e.Key == key {
			return e
		}
	}
	return nil
}

// Before returns the entries that come before e.
func (all Entries) Before(e *Entry) Entries { return all[:max(0, slices.Index(all, e))] }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
