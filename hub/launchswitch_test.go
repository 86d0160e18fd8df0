package hub_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

func manyEntries(n int, entry string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%q:%s", fmt.Sprint("s", i), entry))
	}
	return strings.Join(all, ",")
}

const (
	mineEntry   = `{"command":"s","args":["mine"],"alwaysAllow":["hang","echo"]}`
	theirsEntry = `{"command":"s","args":["theirs"],"alwaysAllow":["*"]}`
)

// twoFiles loads a config file of the user with the text mine and, unless theirs is "", one of a workspace.
func (w *world) twoFiles(mine, theirs string) {
	w.t.Helper()
	sources := []hub.ConfigSource{{Path: userFile, Scope: "user", JSON: mine}}
	if theirs != "" {
		sources = append(sources, hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site",
			JSON: theirs})
	}
	if _, _, _, err := w.hub.LoadConfig(context.Background(), sources); err != nil {
		w.t.Errorf("loading the config: %v", err) // not Fatal: TestBothScopesRace calls this on a goroutine of its own
	}
}

func ofServer(entry string) string { return `{"servers":{"s":` + entry + `}}` }

// runs returns the first argument of the server that was started last.
func (w *world) runs() string {
	w.t.Helper()
	all := w.started()
	return all[len(all)-1].Args[0]
}

// switchWorld returns a world where the user's own s runs a call, and a workspace file with another s was added after
// that.
func switchWorld(t *testing.T) (*world, *view, *pendingCall) {
	t.Helper()
	w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
	w.twoFiles(ofServer(mineEntry), "")
	v := w.user("")
	c := w.call(hub.CallRequest{ID: "running", Server: "s", Tool: "hang"})
	w.server("s")
	w.twoFiles(ofServer(mineEntry), ofServer(theirsEntry))
	return w, v, c
}

// Finding C3: a workspace's entry without consent does not take the place of the user's, which counts, runs and keeps
// its calls. The windows are told that the other entry waits.
func TestUnagreedFolderChangesNothingOfTheUsers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, v, c := switchWorld(t)
		s := w.server("s")
		if s.State != event.ServerReady || s.Scope != "user" || s.LaunchConsent != 0 || len(s.Shadows) != 0 {
			t.Errorf("the server is %+v", s)
		}
		if want := []event.ConfigOrigin{{File: workspaceFile, Line: 1,
			Dialect: "vscode", Scope: "workspace"}}; !slices.Equal(s.Waiting, want) {
			t.Errorf("waiting: %+v", s.Waiting)
		}
		waits := false
		for _, e := range eventsOf[*event.ServerChanged](v) {
			if e.Server.Name == "s" {
				waits = len(e.Server.Waiting) == 1
			}
		}
		if !waits {
			t.Error("the windows were not told that another entry waits")
		}
		w.echo().ok(t)
		if c.over() || len(w.started()) != 1 {
			t.Error("the folder touched what runs")
		}
		for _, off := range []string{`{"command":"s","disabled":true}`, `{"command":[]}`,
			`{"command":"s","alwaysAllow":[],"approvals":{"*":"deny"}}`} {
			w.twoFiles(ofServer(mineEntry), ofServer(off))
			w.echo().ok(t)
			if s := w.server("s"); s.State != event.ServerReady || c.over() {
				t.Errorf("%s: %v", off, s.State)
			}
		}
		w.twoFiles(`{"servers":{"s":`, ofServer(theirsEntry)) // the user is halfway through saving
		w.echo().ok(t)
		if s := w.server("s"); s.State != event.ServerReady || s.Scope != "user" || c.over() {
			t.Errorf("half a file: %+v", s)
		}
		v.noPrompt()
	})
}

// Finding C3: after consent the workspace's entry takes the place of the user's, whose calls end with an error that
// says why. After a No nothing changes.
func TestAgreedFolderTakesOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, v, c := switchWorld(t)
		start := func() *pendingServer {
			return background(func() (event.ServerInfo, error) { return w.hub.StartWorkspaceEntry(context.Background(), "s") })
		}
		asked := start()
		if q := v.launch().Launch; q.ConfigFile != workspaceFile || !slices.Equal(q.Args, []string{"theirs"}) {
			t.Errorf("the question is %+v", q)
		}
		w.twoFiles(ofServer(mineEntry), ofServer(theirsEntry)) // a reload without a change closes no question
		v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDecline})
		if !asked.over() || event.AsError(asked.err).Reason != event.ReasonLaunchDeclined || c.over() {
			t.Errorf("after a no: %v", asked.err)
		}
		w.echo().ok(t)

		asked = start()
		v.allowLaunch(event.ScopeOnce)
		e := c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if e.Meta["origin"] != "host" || !strings.Contains(e.Message, "agreed to the entry") ||
			!strings.Contains(e.Message, workspaceFile) {
			t.Errorf("the error is %+v", e)
		}
		if !asked.over() || asked.err != nil || w.runs() != "theirs" {
			t.Errorf("the start of the entry: %v, runs %s", asked.err, w.runs())
		}
		s := w.server("s")
		if s.Scope != "workspace" || s.LaunchConsent != event.LaunchGiven || len(s.Waiting) != 0 || len(s.Shadows) != 1 ||
			s.Shadows[0].File != userFile {
			t.Errorf("the server is %+v", s)
		}
		w.twoFiles(ofServer(mineEntry), ofServer(theirsEntry))
		if s := w.server("s"); s.State != event.ServerReady || s.Scope != "workspace" {
			t.Errorf("after a reload: %+v", s)
		}
		w.twoFiles(ofServer(mineEntry), "")
		w.echo().ok(t)
		if s := w.server("s"); s.Scope != "user" || w.runs() != "mine" {
			t.Errorf("the folder is closed: %+v", s)
		}
		w.nothingLeft()
	})
}

// Finding C3: a running server goes on when its consent ends with its window. Once it has stopped, the user's own entry
// counts again.
func TestYesThatEndsGivesTheNameBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
		w.twoFiles(ofServer(mineEntry), ofServer(theirsEntry))
		v := w.user("one")
		asked := background(func() (event.ServerInfo, error) { return w.hub.StartWorkspaceEntry(context.Background(), "s") })
		v.allowLaunch(event.ScopeWindow)
		if !asked.over() || asked.err != nil || w.runs() != "theirs" {
			t.Fatalf("the start of the entry: %v", asked.err)
		}
		v.win.Detach(true)
		if s := w.server("s"); s.State != event.ServerReady || s.Scope != "workspace" {
			t.Errorf("the server is %+v", s)
		}
		w.twoFiles(ofServer(mineEntry), ofServer(theirsEntry))
		if s := w.server("s"); s.State != event.ServerReady || s.Scope != "workspace" {
			t.Errorf("after a reload: %+v", s)
		}
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		if s := w.server("s"); s.Scope != "user" || len(s.Waiting) != 1 {
			t.Errorf("the server is %+v", s)
		}
		w.echo().ok(t)
		if w.runs() != "mine" {
			t.Errorf("runs %s", w.runs())
		}
		w.nothingLeft()
	})
}

// Of two workspace folders with a server of one name, the entry without consent does not take the place of the one with
// consent.
func TestUnagreedFolderTakesNothingFromAnotherFolder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
		first := hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site", JSON: ofServer(theirsEntry)}
		w.source(first)
		v := w.user("")
		c := w.echo()
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		second := hub.ConfigSource{Path: "/repos/b/.vscode/mcp.json", Scope: "workspace", Folder: "/repos/b",
			JSON: ofServer(`{"command":"s","args":["b"]}`)}
		if _, _, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{first, second}); err != nil {
			t.Fatal(err)
		}
		w.echo().ok(t)
		if s := w.server("s"); s.ConfigFile != workspaceFile || len(s.Waiting) != 1 || len(w.started()) != 1 {
			t.Errorf("the server is %+v", s)
		}
	})
}

// A window goes, and with it the consent to the workspace's entry, which has stopped: the user's own entry takes its
// place. The windows are told of that once they were told that its requests are cancelled, as for any other change.
func TestEntryThatEndsWithItsWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
		w.twoFiles(ofServer(mineEntry), ofServer(`{"command":"s","args":["theirs"]}`))
		v := w.user("one")
		asked := background(func() (event.ServerInfo, error) { return w.hub.StartWorkspaceEntry(context.Background(), "s") })
		v.allowLaunch(event.ScopeWindow)
		if !asked.over() || asked.err != nil {
			t.Fatal(asked.err)
		}
		other := w.everything()
		first := w.call(hub.CallRequest{Server: "s", Tool: "hang"}) // so that the tools are known
		other.approval()
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		<-first.done
		other.mu.Lock()
		other.events = nil
		other.mu.Unlock()
		c := w.call(hub.CallRequest{ID: "r", Server: "s", Tool: "hang"})
		if p := other.approval(); p.RequestID != "r" {
			t.Fatalf("the call asks %+v", p)
		}
		v.win.Detach(true)
		<-c.done
		w.server("s")
		other.mu.Lock()
		var order []string
		for _, e := range other.events {
			switch e := e.Body.(type) {
			case *event.RequestCancelling:
				order = append(order, "cancelling")
			case *event.ServerChanged:
				if e.Server.Scope == "user" {
					order = append(order, "changed")
				}
			}
		}
		other.mu.Unlock()
		if !slices.Equal(slices.Compact(order), []string{"cancelling", "changed"}) {
			t.Errorf("the windows see %v", order)
		}
		w.nothingLeft()
	})
}
