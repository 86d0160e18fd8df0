package grants

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Store keeps the grants of a user: those for longer than a window in files, which other hubs may change at any time,
// the others in memory. Safe for concurrent use.
type Store struct {
	hub     string
	lists   map[Kind]*statefile.List[slot, entry]
	formKey *formKey
	written *writings

	mu      sync.Mutex // guards below; see the package comment for the order
	windows map[string]*window
	session map[Key]Grant // for as long as the hub lives
}

// window is one that is open, or may come back.
type window struct {
	folders   []string // sorted
	workspace string   // names them: see workspaceOf
	given     map[Key]Grant
}

// Open opens the grants in dir, "" for memory only. hub is the id of this hub, and goes into the ids of what holds in
// it alone. Nothing is read before Refresh.
func Open(dir, hub string, log *slog.Logger) *Store {
	s := &Store{hub: hub, lists: map[Kind]*statefile.List[slot, entry]{}, formKey: openFormKey(dir, log),
		written: openWritten(dir, log),
		windows: map[string]*window{}, session: map[Key]Grant{}}
	for kind, of := range kinds {
		s.lists[kind] = statefile.OpenList(dir, of.file, log)
	}
	return s
}

// Refresh takes up what other hubs have written. It may read files.
func (s *Store) Refresh(kinds ...Kind) {
	for _, kind := range kinds {
		s.lists[kind].Refresh()
	}
}

// Save writes what was agreed to and forgotten. It may write files.
func (s *Store) Save() {
	for _, l := range s.lists {
		l.Save()
	}
}

// SetFolders says that a window is open, and with which workspace folders. What it agreed to before stays.
func (s *Store) SetFolders(windowID string, uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.windows[windowID]
	if w == nil {
		w = &window{given: map[Key]Grant{}}
		s.windows[windowID] = w
	}
	w.folders, w.workspace = sorted(uris), workspaceOf(uris)
}

// EndWindow ends what holds for a window.
func (s *Store) EndWindow(windowID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.windows, windowID)
}

// Agree makes a yes of a window that is open hold for its scope, in memory; Save writes it. A yes to a call lets the
// definition through as well.
func (s *Store) Agree(g Grant, scope event.ApprovalScope, windowID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.Scope, g.Time, g.Definition = scope, time.Now().UTC(), definitionKept(g.Definition)
	if g.kind == Call && !s.holds(g.As(Definition), s.lists[Definition].All()) {
		s.lists[Definition].Put(definitionOf(g))
	}
	w := s.windows[windowID]
	switch {
	case scope == event.ScopeWindow && w != nil:
		g.Window = windowID
		w.given[g.Key] = g
	case scope == event.ScopeWorkspace && w != nil:
		g.Folders = w.folders
		s.lists[g.kind].Put(entryOf(&g))
	case scope == event.ScopeAlways:
		s.lists[g.kind].Put(entryOf(&g))
	case kinds[g.kind].session:
		s.session[g.Key] = g
	}
}

// LetThroughFirst lets the definition of a tool through unless there is one already, perhaps of another hub. false:
// that is another one. It may read and write files.
func (s *Store) LetThroughFirst(k Key, definition string) bool {
	l := s.lists[Definition]
	l.Refresh()
	e := l.PutNew(definitionOf(Grant{Key: k, Time: time.Now().UTC(), Definition: definitionKept(definition)}))
	l.Save()
	return e.DefinitionHash == k.Hash
}

// definitionOf notes the definition that g is about.
func definitionOf(g Grant) entry {
	g.kind, g.Folders = Definition, nil
	return entryOf(&g)
}

// Holds tells whether there is a grant for k that holds now.
func (s *Store) Holds(k Key) bool {
	if k.kind == 0 {
		return false
	}
	kept := s.lists[k.kind].All()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holds(k, kept)
}

// holds is Holds among the entries of a file. mu is held.
func (s *Store) holds(k Key, kept map[slot]entry) bool {
	if _, ok := s.session[k]; ok {
		return true
	}
	if e, ok := kept[slotOf(k, "")]; ok && !e.bound() && e.granted() == k {
		return true
	}
	for _, w := range s.windows {
		if _, ok := w.given[k]; ok {
			return true
		}
		if w.workspace == "" {
			continue
		}
		if _, ok := kept[slotOf(k, w.workspace)]; ok {
			return true
		}
	}
	return false
}

// HoldsForAny tells whether there is a grant for k in whatever form, of its kind.
func (s *Store) HoldsForAny(k Key) bool {
	kept := s.lists[k.kind].All()
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[string]bool{}
	for _, w := range s.windows {
		open[w.workspace] = true
		for other := range w.given {
			if other.kind == k.kind && other.subject() == k.subject() {
				return true
			}
		}
	}
	for at, e := range kept {
		if at.subject() == k.subject() && (!e.bound() || at.workspace != "" && open[at.workspace]) {
			return true
		}
	}
	return false
}

// Before gives what was agreed to last for k in another form. ok is false when there is nothing, and, of a tool, when
// it was this form.
func (s *Store) Before(k Key) (before Grant, ok bool) {
	look := func(g Grant) {
		if g.subject() != k.subject() || (g.kind == Launch) != (k.kind == Launch) ||
			k.kind == Launch && (g.Hash == k.Hash || !g.ofThisForm()) {
			return
		}
		if !ok || g.Time.After(before.Time) || g.Time.Equal(before.Time) && g.Hash == k.Hash {
			before, ok = g, true
		}
	}
	s.each(look)
	return before, ok && before.Hash != k.Hash
}

// each shows all grants, also those that do not hold now.
func (s *Store) each(look func(Grant)) {
	for _, l := range s.lists {
		for _, e := range l.All() {
			look(e.grant())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.session {
		look(g)
	}
	for _, w := range s.windows {
		for _, g := range w.given {
			look(g)
		}
	}
}

// List gives what holds for longer than this hub, or as long as a window does, in no order.
func (s *Store) List() (list []event.Remembered) {
	s.each(func(g Grant) {
		if g.kind != Definition && g.Scope != event.ScopeOnce {
			list = append(list, g.remembered(s.hub))
		}
	})
	return list
}

// Forget takes out what has one of the ids of List, in memory, and tells how many there were; Save writes that.
func (s *Store) Forget(ids map[string]bool) (forgotten int) {
	match := func(g Grant) bool {
		return g.kind != Definition && g.Scope != event.ScopeOnce && ids[kinds[g.kind].id(&g, s.hub)]
	}
	for _, l := range s.lists {
		forgotten += l.Drop(func(_ slot, e entry) bool { return match(e.grant()) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.windows {
		for k, g := range w.given {
			if match(g) {
				delete(w.given, k)
				forgotten++
			}
		}
	}
	return forgotten
}
