package hub

import (
	"path/filepath"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// configEntry is one entry of the config, with what is made of all its texts. A stranger chooses how long these are, so
// it is made without the hub's lock. Nothing of it changes but form.
type configEntry struct {
	conf  config.Server
	key   string // conf's launch key
	watch string // the folder where the patterns in conf.Watch begin
	// form is what there was to agree to when somebody looked last: see Hub.lookAt. nil: the entry needs no consent.
	// Guarded by Hub.mu.
	form *grants.Form
}

// configEntries are those of one name, the one that counts if all are agreed to first: see Hub.counting.
type configEntries []*configEntry

// entriesOf makes entries of what was read. It may read files, so it is called without the lock.
func (h *Hub) entriesOf(want []config.Server, sources []ConfigSource) []configEntries {
	all := make([]configEntries, 0, len(want))
	for _, c := range want {
		behind := c.Behind
		c.Behind = nil
		entries := configEntries{h.entryOf(c, sources)}
		for _, b := range behind {
			entries = append(entries, h.entryOf(b, sources))
		}
		all = append(all, entries)
	}
	return all
}

// entryOf is called without the lock.
func (h *Hub) entryOf(conf config.Server, sources []ConfigSource) *configEntry {
	v := h.variablesAmong(sources, conf)
	e := &configEntry{conf: conf, key: conf.LaunchKey()}
	if len(conf.Watch) > 0 {
		e.watch = watchFolder(conf, v)
	}
	e.form = h.formNow(conf, v)
	return e
}

// formNow gives the form of an entry as far as it is known without the values of inputs; nil: it needs no consent. It
// is called without the lock.
func (h *Hub) formNow(conf config.Server, v config.Variables) *grants.Form {
	if !needsConsent(conf) {
		return nil
	}
	f := h.formOf(conf, v, grants.Look(conf, v, nil, h.environ))
	return &f
}

// same finds, among entries that were read anew, the one that is what e was; nil: it is gone or runs something else.
func (all configEntries) same(e *configEntry) *configEntry {
	if e == nil {
		return nil
	}
	return all.find(e.conf.Origin.File, e.key)
}

// find gives the entry of a file that runs just that.
func (all configEntries) find(file, key string) *configEntry {
	for _, e := range all {
		if e.conf.Origin.File == file && e.key == key {
			return e
		}
	}
	return nil
}

// ask tells whether a question about this form is about what one of the entries is now.
func (all configEntries) ask(k grants.Key) bool {
	return slices.ContainsFunc(all, func(e *configEntry) bool { return e.form != nil && e.form.Key == k })
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
