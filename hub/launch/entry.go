package launch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/userenv"
)

// Maker makes entries and launches of what the config says on this machine.
type Maker struct {
	House    servers.House
	Grants   *grants.Store
	Redactor *redact.Redactor
	Logger   *slog.Logger
	User     *userenv.User // whose environment it is
	OnForm   func()        // tests are told of each form that is made; nil: nobody

	// folders are the workspace folders of the config's files. They are set with the lock, and also read without.
	folders atomic.Pointer[[]string]
}

// SetFolders says which workspace folders the files of the config belong to.
func (m *Maker) SetFolders(folders []string) { m.folders.Store(&folders) }

// Entry is one entry of the config, with what is made of all its texts. A stranger chooses how long these are, so it is
// made without the lock. Nothing of it changes but form.
type Entry struct {
	Conf  config.Server
	Key   string // Conf's launch key
	Watch string // the folder where the patterns in Conf.Watch begin
	Of    string // name in the config, if Conf.Name is an address: see Beside
	// form is what there was to agree to when somebody looked last: see Launch.look. nil: the entry needs no consent.
	// Guarded by the lock.
	form *grants.Form
}

// Entries are those of one name, the one that counts if all are agreed to first.
type Entries []*Entry

// Entries makes entries of what was read under one name. It may read files, so it is called without the lock.
func (m *Maker) Entries(conf config.Server) Entries {
	behind := conf.Behind
	conf.Behind = nil
	all := Entries{m.entry(conf)}
	for _, b := range behind {
		all = append(all, m.entry(b))
	}
	return all
}

func (m *Maker) entry(conf config.Server) *Entry {
	v := m.variables(now(), conf)
	e := &Entry{Conf: conf, Key: conf.LaunchKey(), form: m.formNow(conf, v)}
	if len(conf.Watch) > 0 {
		e.Watch = watchFolder(conf, v)
	}
	return e
}

// Anew looks at entries that stay although the folders may be other ones now, without the lock. keep, which is called
// with it, makes what was seen hold.
func (m *Maker) Anew(old Entries) (keep func()) {
	forms := make([]*grants.Form, len(old))
	for i, e := range old {
		forms[i] = m.formNow(e.Conf, m.variables(now(), e.Conf))
	}
	return func() {
		for i, e := range old {
			e.form = forms[i]
		}
	}
}

// formNow gives the form of an entry as far as it is known without the values of inputs; nil: it needs no consent. It
// is called without the lock.
func (m *Maker) formNow(conf config.Server, v config.Variables) *grants.Form {
	if !conf.Origin.NeedsConsent() {
		return nil
	}
	f := m.form(conf, v, grants.Look(conf, v, nil, m.finder(now())))
	return &f
}

// form makes a form. It takes time that a stranger chooses, and may read a file: without the lock.
func (m *Maker) form(conf config.Server, v config.Variables, seen grants.Sight) grants.Form {
	if m.OnForm != nil {
		m.OnForm()
	}
	return m.Grants.Form(conf, v, seen)
}

// now is the context of who looks and waits for nobody: the login shell may not have answered yet. When it has,
// somebody looks anew (sources.Config.ExamineAgain).
func now() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errNotWaiting)
	return ctx
}

var errNotWaiting = errors.New("a look at what is known now")

// finder looks for programs, and waits for the login shell within ctx.
func (m *Maker) finder(ctx context.Context) grants.Finder {
	return func(w userenv.Wanted) userenv.Found { return m.User.Find(ctx, w) }
}

// machine is what of this computer and user goes into a config: the same for the hub's whole life.
var machine = sync.OnceValue(func() (m struct{ home, cwd string }) {
	m.home, _ = os.UserHomeDir() // "" leaves the reference unresolved
	m.cwd, _ = os.Getwd()
	return m
})

// variables is what a server's references are resolved with, but for inputs.
func (m *Maker) variables(ctx context.Context, conf config.Server) config.Variables {
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
	if conf.URL != "" { // it waits for the shell's answer only if there is a variable in it
		if names, _ := conf.References(v); len(names) == 0 {
			ctx = now()
		}
	}
	v.Getenv = config.LookupEnv(m.User.Base(ctx), runtime.GOOS)
	return v
}

// watchFolder is where the patterns of a server start: in its directory, if the config names one, else beside the file.
// A directory whose name is known only at the start (from the environment, from an input) is none of the hub's places
// yet, and nothing is found there.
func watchFolder(conf config.Server, v config.Variables) string {
	if conf.Dir != "" {
		if dir := conf.Shown(v).Dir; filepath.IsAbs(dir) {
			return dir
		}
	}
	base := conf.Origin.Folder
	if base == "" {
		base = filepath.Dir(conf.Origin.File)
	}
	return filepath.Join(base, conf.Dir)
}

// same finds, among entries that were read anew, the one that is what e was; nil: it is gone or runs something else.
func (all Entries) same(e *Entry) *Entry {
	if e == nil {
		return nil
	}
	return all.find(e.Conf.Origin.File, e.Key)
}

// find gives the entry of a file that runs just that.
func (all Entries) find(file, key string) *Entry {
	for _, e := range all {
		if e.Conf.Origin.File == file && e.Key == key {
			return e
		}
	}
	return nil
}

// before gives those that come before e.
func (all Entries) before(e *Entry) Entries { return all[:max(0, slices.Index(all, e))] }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
