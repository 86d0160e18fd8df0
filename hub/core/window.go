package core

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// maxGoneWindows is how many windows are remembered that are gone. A call of an older one has no owner.
const maxGoneWindows = 256

// window is a view of an editor that is attached, may come back, or is gone.
type window struct {
	shows event.Kinds
	gone  bool      // closed for good, or not back in time
	until time.Time // when it is gone unless it has come back; zero = it is attached, or gone
}

// windowShows records what an attached window shows.
func (s *State) windowShows(e *WindowShows) {
	s.goneWindows = without(s.goneWindows, e.Window)
	s.windows[e.Window] = window{shows: e.Shows}
	s.showsChanged()
}

// windowDetached lets a window come back within a time, unless it was closed for good.
func (s *State) windowDetached(e *WindowDetached) {
	w, known := s.windows[e.Window]
	switch {
	case !known || w.gone:
	case e.Final:
		s.windowGone(e.Window)
	default:
		w.until = s.now.Add(e.Return)
		s.windows[e.Window] = w
		s.do(WindowTimerSet{e.Window, w.until})
	}
}

func (s *State) windowTimer(id string) {
	switch w := s.windows[id]; {
	case w.until.IsZero(): // it has come back, or is gone
	case s.now.Before(w.until):
		s.do(WindowTimerSet{id, w.until})
	default:
		s.windowGone(id)
	}
}

// windowGone ends what belongs to a window.
func (s *State) windowGone(id string) {
	s.windows[id] = window{gone: true}
	if s.goneWindows = append(s.goneWindows, id); len(s.goneWindows) > maxGoneWindows {
		delete(s.windows, s.goneWindows[0])
		s.goneWindows = s.goneWindows[1:]
	}
	s.do(WindowGone{id})
	s.cancelScope(&ScopeCancelled{Scope{Owner: id}, OwnerClosed})
	s.showsChanged()
}

// WindowGone reports whether a window is gone.
func (s *State) WindowGone(id string) bool { return s.windows[id].gone }

// showsChanged looks anew at what windows can show. One that may come back counts: a question waits for it.
func (s *State) showsChanged() {
	s.shows = event.Kinds{}
	for _, w := range s.windows {
		s.shows.Join(w.shows)
	}
	s.closeUnshowable()
}

// OwnerClosed is the cause with which a call ends whose owner, a window, is gone.
var OwnerClosed = &event.CancelCause{Origin: event.OriginHost, Reason: "the window that owns the call closed"}
