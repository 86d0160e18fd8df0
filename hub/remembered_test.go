package hub_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Approvals of every scope but once are listed, oldest first, with what they hold for; of one server if that is asked
// for. A later hub lists them with the same ids.
func TestRememberedListsEverything(t *testing.T) {
	dir := t.TempDir()
	var before []event.Remembered
	synctest.Test(t, func(t *testing.T) {
		w := newWorldIn(t, dir, map[string]*fakeserver.Server{"s": answers("a", "b", "c", "d"), "t": answers("a")})
		v := w.attach(hub.Hello{WindowID: "w", Kinds: allKinds, Roots: roots("file:///q", "file:///p")})
		start := time.Now()
		for i, scope := range []event.ApprovalScope{event.ScopeAlways, event.ScopeWindow, event.ScopeWorkspace,
			event.ScopeOnce} {
			pass(time.Second)
			w.approves(v, string("abcd"[i]), scope)
		}
		pass(time.Second)
		c := w.call(hub.CallRequest{Server: "t", Tool: "a"})
		v.answer(yes(v.prompt(), event.ScopeAlways))
		c.ok(t)
		before = w.hub.Remembered("")
		want := []event.Remembered{
			{Server: "s", Tool: "a", Scope: event.ScopeAlways, Time: start.Add(time.Second)},
			{Server: "s", Tool: "b", Scope: event.ScopeWindow, WindowID: "w", Time: start.Add(2 * time.Second)},
			{Server: "s", Tool: "c", Scope: event.ScopeWorkspace, Folders: []string{"file:///p", "file:///q"},
				Time: start.Add(3 * time.Second)},
			{Server: "t", Tool: "a", Scope: event.ScopeAlways, Time: start.Add(5 * time.Second)},
		}
		seen := map[string]bool{}
		for i, r := range before {
			if r.ID == "" || seen[r.ID] || len(r.Hash) != 64 || r.Kind != event.RememberedApproval ||
				strings.Contains(r.ID, r.Server+r.Tool) {
				t.Errorf("%+v", r)
			}
			seen[r.ID] = true
			if i < len(want) {
				want[i].ID, want[i].Hash, want[i].Kind = r.ID, r.Hash, r.Kind
			}
		}
		if diff := cmp.Diff(want, before); diff != "" {
			t.Errorf("remembered (-want +got):\n%s", diff)
		}
		if list := w.hub.Remembered("t"); len(list) != 1 || list[0].Server != "t" {
			t.Errorf("of t: %+v", list)
		}
		if list := w.hub.Remembered("nosuch"); len(list) != 0 {
			t.Errorf("of nosuch: %+v", list)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorldIn(t, dir, serversOf("s", answers("a")))
		want := slices.DeleteFunc(slices.Clone(before), func(r event.Remembered) bool { return r.Scope == event.ScopeWindow })
		if diff := cmp.Diff(want, w.hub.Remembered("")); diff != "" {
			t.Errorf("a later hub remembers (-want +got):\n%s", diff)
		}
	})
}
