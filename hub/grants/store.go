package grants

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Store keeps the grants of a user. Grants that outlast a window are in files, which other hubs may change at any time;
// the others are in memory. A Store is safe for concurrent use.
type Store struct {
	hub     string
	lists   map[Kind]*statefile.List[slot, entry]
	formKey *formKey
	written *writings

	mu      sync.Mutex // guards the fields below; see the package comment for the order of locks
	windows map[string]*window
	session map[Key]Grant // valid as long as the hub lives
}

// window is a window that is open, or may come back.
type window struct {
	folders   []string // sorted
	workspace string   // the name of folders: see workspaceOf
	given     map[Key]Grant
}

// Open opens the grants in dir; "" means memory only. hub is the id of this hub, and is part of the ids of grants that
// are valid in this hub only. Nothing is read before Refresh.
func Open(dir, hub string, log *slog.Logger) *Store {
	s := &Store{hub: hub, lists: map[Kind]*statefile.List[slot, entry]{}, formKey: openFormKey(dir, log),
		written: openWritten(dir, log),
		windows: map[string]*window{}, session: map[Key]Grant{}}
	for kind, of := range kinds {
		s.lists[kind] = statefile.OpenList(dir, of.file, log)
	}
	return s
}

// Refresh reads what other hubs have written. It may read files.
func (s *Store) Refresh(kinds ...Kind) {
	for _, kind := range kinds {
		s.lists[kind].Refresh()
	}
}

// Save writes what was agreed to and forgotten since the last Save. It may write files.
func (s *Store) Save() {
	for _, l := range s.lists {
		l.Save()
	}
}

// SetFolders records that a window is open, and its workspace folders. What the window has agreed to before stays
// valid.
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

// EndWindow ends the grants of a window.
func (s *Store) EndWindow(windowID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.windows, windowID)
}

// Agree records the consent to g that a person gave in an open window, for the scope, in memory; Save writes it.
// Consent to a call lets the definition through as well.
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

// LetThroughFirst records the definition of a tool as let through, unless one is recorded already, perhaps by another
// hub. It reports whether the recorded definition is that of k. It may read and write files.
func (s *Store) LetThroughFirst(k Key, definition string) bool {
	l := s.lists[Definition]
	l.Refresh()
	e := l.PutNew(definitionOf(Grant{Key: k, Time: time.Now().UTC(), Definition: definitionKept(definition)}))
	l.Save()
	return e.DefinitionHash == k.Hash
}

// definitionOf returns the entry for the definition of the tool that g is about.
func definitionOf(g Grant) entry {
	g.kind, g.Folders = Definition, nil
	return entryOf(&g)
}

// Holds reports whether a grant for k is valid now.
func (s *Store) Holds(k Key) bool {
	if k.kind == 0 {
		return false
	}
	kept := s.lists[k.kind].All()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holds(k, kept)
}

// holds is like Holds; kept are the entries of the file for k's kind. It is called with mu held.
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

// HoldsForAny reports whether a grant of k's kind is valid now for the subject of k, in any form.
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

// Before returns the last grant for the subject of k in another form. ok is false if there is none; for a tool also if
// the last grant was for this form.
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

// each calls look with every grant, also with those that are not valid now.
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

// List returns the grants that outlast this hub, and those of windows, in no particular order.
func (s *Store) List() (list []event.Remembered) {
	s.each(func(g Grant) {
		if g.kind != Definition && g.Scope != event.ScopeOnce {
			list = append(list, g.remembered(s.hub))
		}
	})
	return list
}

// Forget removes the grants that have one of the ids of List, in memory, and returns how many there were; Save writes
// the change.
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
