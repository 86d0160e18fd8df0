package hub

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// consentGiven is a yes to a launch.
type consentGiven struct {
	File     string                   `json:"file"`
	Server   string                   `json:"server"`
	Hash     string                   `json:"hash"`
	Folders  []string                 `json:"folders,omitempty"` // that have to be open, sorted, when Bound
	Bound    bool                     `json:"boundToFolders,omitempty"`
	Fields   []formField              `json:"form"`
	Policies map[string]config.Policy `json:"approvals,omitempty"`
	Time     time.Time                `json:"time"`
}

func (c consentGiven) Key() string     { return c.id("") }
func (c consentGiven) When() time.Time { return c.Time }

var consentForm = statefile.ListForm[consentGiven]{
	File: "launches.json", Member: "entries", What: "consents to launches", Version: 1, Max: maxAnswers, Room: maxAnswered,
}

// Bounds of a file with answers: their number, and bytes of JSON. The oldest go, which makes the hub ask again.
const (
	maxAnswers  = 1000
	maxAnswered = 8 << 20
)

func (c consentGiven) of() launchKey { return launchKey{c.File, c.Server, c.Hash} }

// id is the name of a yes for Forget; where is "" or the window that it holds for.
func (c consentGiven) id(where string) string {
	return "launch-" + sum(append([]string{c.File, c.Server, c.Hash, where}, c.Folders...)...)[:16]
}

// launch is what is known of the consent to start one server. Guarded by Hub.mu.
type launch struct {
	asking int // open prompts
	// the hash that the user has declined; "" = none, or the host wants the user to be asked again
	declined string
	started  *consentGiven       // what was agreed to when the server was started last
	told     event.LaunchConsent // what the windows know
}

// needsConsent tells whether a server starts only after the user has agreed: what a workspace brings, the user may not
// have written. It is the same for a URL, as headers and tokens would go there.
func needsConsent(conf config.Server) bool {
	return conf.Origin.NeedsConsent()
}

// launchForm is what there is to agree to for s, which needs consent, when somebody looked last; the zero form, to
// which nobody agrees, where there is nothing. It is asked for with each call. h.mu is held.
func (h *Hub) launchForm(s *server) launchForm {
	if s.entry == nil || s.entry.form == nil {
		return launchForm{}
	}
	return *s.entry.form
}

// consentTo gives the yes that holds for a launch now. h.mu is held.
func (h *Hub) consentTo(k launchKey) *consentGiven {
	if c, ok := h.consents[k]; ok {
		return &c
	}
	for _, w := range h.windows {
		if c, ok := w.consents[k]; ok {
			return &c
		}
	}
	for _, c := range h.launches.All() {
		if c.of() == k && (!c.Bound || h.areOpen(c.Folders)) {
			return &c
		}
	}
	return nil
}

// consentBefore gives the latest yes to another form of a launch. h.mu is held.
func (h *Hub) consentBefore(k launchKey) (before *consentGiven) {
	look := func(c consentGiven) {
		if c.File == k.file && c.Server == k.server && c.Hash != k.hash && ofThisVersion(c) &&
			(before == nil || c.Time.After(before.Time)) {
			before = &c
		}
	}
	for _, c := range h.consents {
		look(c)
	}
	for _, w := range h.windows {
		for _, c := range w.consents {
			look(c)
		}
	}
	for _, c := range h.launches.All() {
		look(c)
	}
	return before
}

// ofThisVersion tells whether a yes was given to a form of the present Version: what differs from one of another
// version says nothing of the launch.
func ofThisVersion(c consentGiven) bool {
	return slices.Contains(c.Fields, formField{Path: "form", Text: strconv.Itoa(formVersion)})
}

// areOpen tells whether some window has just these folders open. h.mu is held.
func (h *Hub) areOpen(folders []string) bool {
	name := workspaceOf(folders)
	for _, w := range h.windows {
		if !w.gone && name != "" && w.workspace() == name {
			return true
		}
	}
	return false
}

// agree keeps a yes of w for its scope, in memory; whoever waits for the answer writes it to the file. w is attached.
// h.mu is held.
func (h *Hub) agree(w *Window, f launchForm, scope event.ApprovalScope) {
	c := consentGiven{File: f.key.file, Server: f.key.server, Hash: f.key.hash, Fields: f.fields, Policies: f.policies,
		Time: time.Now().UTC()}
	switch scope {
	case event.ScopeWindow:
		if w.consents == nil {
			w.consents = map[launchKey]consentGiven{}
		}
		w.consents[f.key] = c
	case event.ScopeWorkspace:
		c.Bound, c.Folders = true, foldersOf(w.workspace())
		h.launches.Put(c)
	case event.ScopeAlways:
		h.launches.Put(c)
	default:
		h.consents[f.key] = c
	}
	h.company++
	h.consentsChanged()
}

// consentState is what the windows are shown. h.mu is held.
func (s *server) consentState() event.LaunchConsent {
	if !needsConsent(s.conf) || s.life.Broken() {
		return 0
	}
	key := s.hub.launchForm(s).key
	switch {
	case s.launch.asking > 0:
		return event.LaunchAsking
	case s.hub.consentTo(key) != nil:
		return event.LaunchGiven
	case s.launch.declined == key.hash:
		return event.LaunchDeclined
	}
	return event.LaunchNeeded
}

// consentsChanged draws the consequences where a yes may have come or gone: the windows are told, questions about tools
// that this answers are closed, and an eager server that waits for a person starts if it need not wait any more. h.mu
// is held.
func (h *Hub) consentsChanged() {
	for _, s := range h.servers {
		h.settle(s)
		if s.consentState() != s.launch.told {
			h.changed(s)
		}
		h.policyChanged(s)
		if s.life.Lonely() && needsConsent(s.conf) && h.consentTo(h.launchForm(s).key) != nil {
			s.life.Apply(servers.Company)
			h.startEagerly(s)
		}
	}
}

// refreshLaunches takes up what another hub has been told. It may read a file: not with the lock.
func (h *Hub) refreshLaunches() {
	h.launches.Refresh()
	defer h.lock().unlock()
	h.consentsChanged()
}

// rememberedLaunches lists each yes that holds for longer than this hub, or as long as a window does.
func (h *Hub) rememberedLaunches() []event.Remembered {
	h.refreshLaunches()
	defer h.lock().unlock()
	var list []event.Remembered
	add := func(id string, c consentGiven, scope event.ApprovalScope, window string) {
		list = append(list, event.Remembered{
			ID: id, Kind: event.RememberedLaunch, Server: c.Server, Scope: scope, Folders: c.Folders, WindowID: window,
			Time: c.Time,
			Hash: c.Hash,
		})
	}
	for _, w := range h.windowsInOrder() {
		for _, c := range w.consents {
			add(c.id("window "+w.id), c, event.ScopeWindow, w.id)
		}
	}
	for id, c := range h.launches.All() {
		scope := event.ScopeAlways
		if c.Bound {
			scope = event.ScopeWorkspace
		}
		add(id, c, scope, "")
	}
	return list
}

// forgetLaunches forgets each yes with one of the ids, and tells how many there were. What runs is not touched. It may
// write a file.
func (h *Hub) forgetLaunches(ids map[string]bool) int {
	h.launches.Refresh()
	forgotten := 0
	h.update(func() {
		forgotten = h.launches.Drop(func(id string, _ consentGiven) bool { return ids[id] })
		for _, w := range h.windows {
			for k, c := range w.consents {
				if ids[c.id("window "+w.id)] {
					delete(w.consents, k)
					forgotten++
				}
			}
		}
		h.consentsChanged()
	})
	h.launches.Save()
	return forgotten
}
