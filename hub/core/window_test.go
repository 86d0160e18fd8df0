package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// A window that is not back in time is gone, and so are the calls that it owns; one that is back in time is not,
// however close that was.
func TestWindowThatComesBack(t *testing.T) {
	s := New("hub")
	at := func(after time.Duration, e Event) (gone bool) {
		for _, effect := range s.Apply(start.Add(after), e) {
			if _, is := effect.(WindowGone); is {
				gone = true
			}
		}
		return gone
	}
	shows := WindowShows{Window: "w", Shows: allKinds()}
	leaves := WindowDetached{Window: "w", Return: 10}
	at(0, shows)
	at(0, RequestMade{ID: "a", Server: 1, Call: true, Owner: "w"})
	at(0, leaves)
	if at(9, WindowTimer{"w"}) || !s.Shows().Has(event.PromptSampling, true) {
		t.Error("gone while it may come back, or no question waits for it")
	}
	at(9, shows)
	at(20, leaves)
	if at(21, WindowTimer{"w"}) { // of the first time
		t.Error("gone by an old timer")
	}
	if !at(30, WindowTimer{"w"}) || at(31, WindowTimer{"w"}) || at(31, WindowDetached{Window: "w", Final: true}) {
		t.Error("not gone in time, or twice")
	}
	if r, _ := s.Request(1); r.Cause != OwnerClosed || s.Shows().Has(event.PromptSampling, false) || !s.WindowGone("w") {
		t.Errorf("its call: %+v; what is shown: %+v", r, s.Shows())
	}
	at(40, RequestMade{ID: "b", Server: 1, Call: true, Owner: "w"})
	if r, _ := s.Request(2); r.Cause != OwnerClosed {
		t.Errorf("a call of a window that is gone: %+v", r)
	}
	if at(50, shows); s.WindowGone("w") || !s.Shows().Has(event.PromptSampling, true) {
		t.Error("a window that came back late is gone")
	}
}

// Of the windows that have gone the latest are remembered, up to a bound: a page that reloads itself chooses how many
// there are.
func TestGoneWindowsAreBounded(t *testing.T) {
	s := New("hub")
	s.Apply(start, WindowShows{Window: "stays"})
	s.Apply(start, WindowDetached{Window: "stays", Final: true})
	s.Apply(start, WindowShows{Window: "stays", Shows: allKinds()}) // it is back
	for n := range 1000 {
		id := fmt.Sprint("page-", n)
		s.Apply(start, WindowShows{Window: id})
		s.Apply(start, WindowDetached{Window: id, Final: true})
	}
	if len(s.windows) != maxGoneWindows+1 || s.WindowGone("page-0") || !s.WindowGone("page-999") ||
		s.WindowGone("stays") || !s.Shows().Has(event.PromptSampling, true) {
		t.Errorf("%d windows are remembered", len(s.windows))
	}
}

// A kind of question that one window shows, and tools that another one shows, are nobody's questions with tools.
func TestWhatWindowsShowTogether(t *testing.T) {
	s := New("hub")
	var sampling, form event.Kinds
	sampling.Add(event.PromptSampling, false)
	form.Add(event.PromptElicitationForm, false)
	s.Apply(start, WindowShows{"a", sampling})
	s.Apply(start, WindowShows{"b", form})
	if k := s.Shows(); !k.Has(event.PromptSampling, false) || k.Has(event.PromptSampling, true) ||
		!k.Has(event.PromptElicitationForm, false) || k.Has(event.PromptElicitationURL, false) {
		t.Errorf("they show %+v", k)
	}
}
