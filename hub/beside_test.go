package hub_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// serversListed returns the name, the name in the config, and the scope of each server, in the order of the list. It
// checks their places, too.
func (w *world) serversListed() (list []string) {
	w.t.Helper()
	synctest.Wait()
	all, _ := w.hub.Servers()
	for i, s := range all {
		if s.Place != i+1 {
			w.t.Errorf("%s is told to be at %d and stands at %d", s.Name, s.Place, i+1)
		}
		list = append(list, s.Name+" "+s.ConfigName+" "+s.Scope)
	}
	return list
}

func (w *world) wantListed(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.serversListed()); diff != "" {
		w.t.Errorf("the servers (-want +got):\n%s", diff)
	}
}

func (w *world) callTo(server, tool string) *pendingCall {
	return w.call(hub.CallRequest{Server: server, Tool: tool})
}

// startWorkspaceEntry starts the workspace's entry in the place of the user's, in the background.
func (w *world) startWorkspaceEntry() *pendingServer {
	return background(func() (event.ServerInfo, error) { return w.hub.StartWorkspaceEntry(context.Background(), "s") })
}

// A workspace entry without consent is a server of its own beside the user's. It has an address, by which it can be
// called after consent, and does not change the user's server, which has an address as well.
func TestBothScopesAreCallable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, v, running := switchWorld(t)
		w.wantListed("s s user", "s@workspace s workspace")
		if s := w.server("s@workspace"); s.LaunchConsent != event.LaunchNeeded || s.State != event.ServerStopped ||
			s.ConfigFile != workspaceFile {
			t.Errorf("the server is %+v", s)
		}
		w.callTo("s@user", "echo").ok(t) // the server that has the plain name, too
		if w.runs() != "mine" || len(w.started()) != 1 {
			t.Errorf("runs %s, %d starts", w.runs(), len(w.started()))
		}
		c := w.callTo("s@workspace", "echo")
		if q := v.launch().Launch; q.ConfigFile != workspaceFile || !slices.Equal(q.Args, []string{"theirs"}) {
			t.Errorf("the question is %+v", q)
		}
		v.allowLaunch(event.ScopeOnce)
		c.ok(t) // what its file allows counts since the consent
		if w.runs() != "theirs" || running.over() {
			t.Errorf("runs %s; the call of the user's ended: %v", w.runs(), running.over())
		}
		if s := w.server("s"); s.State != event.ServerReady || s.Scope != "user" || len(s.Waiting) != 1 {
			t.Errorf("the user's: %+v", s)
		}
		if s := w.server("s@workspace"); s.State != event.ServerReady || s.LaunchConsent != event.LaunchGiven {
			t.Errorf("the workspace's: %+v", s)
		}

		// requests are listed and cancelled for each of the two servers
		theirs := w.call(hub.CallRequest{ID: "theirs", Server: "s@workspace", Tool: "hang"})
		synctest.Wait()
		if list := w.hub.Requests("s@user"); len(list) != 1 || list[0].ID != "running" || list[0].Server != "s" {
			t.Errorf("requests of the user's: %+v", list)
		}
		if out, _ := w.hub.CancelRequest("theirs", "s@user", "no", event.OriginHost); out != event.OutcomeUnknown {
			t.Errorf("a cancel for the other server: %v", out)
		}
		ids := w.hub.CancelRequests(hub.CancelScope{Server: "s@workspace"}, "enough", event.OriginHost)
		if !slices.Equal(ids, []string{"theirs"}) || running.over() {
			t.Errorf("cancelled %v", ids)
		}
		theirs.want(t, event.CodeCancelled, event.ReasonCancelled)
		if _, err := w.hub.StopServer(context.Background(), "s@workspace", ""); err != nil {
			t.Fatal(err)
		}
		if running.over() {
			t.Error("a stop of the one ended a call of the other")
		}
		if _, err := w.hub.StopServer(context.Background(), "s@user", "done"); err != nil {
			t.Fatal(err)
		}
		running.want(t, event.CodeCancelled, event.ReasonCancelled)
		w.nothingLeft()
	})
}

// A Yes for one entry of a name does not count for the other: neither for its launch, nor for its tools, nor for its
// taking the place of the other. When the workspace's entry takes the place, the calls of both servers end with an
// error that says why.
func TestYesForOneScopeIsNoneForTheOther(t *testing.T) {
	const mine, theirs = `{"command":"s","args":["mine"]}`, `{"command":"s","args":["theirs"]}`
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{StateDir: t.TempDir()}, serversOf("s", hanging()))
		w.twoFiles(ofServer(mine), ofServer(theirs))
		v := w.user("one", "file:///repos/site")
		asked := func(server string) {
			t.Helper()
			c := w.callTo(server, "echo")
			p := v.approval()
			if p.Server != server {
				t.Errorf("the question is of %s", p.Server)
			}
			v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Scope: event.ScopeAlways})
			c.ok(t)
			w.callTo(server, "echo").ok(t)
		}
		asked("s")

		start := background(func() (event.ServerInfo, error) {
			return w.hub.StartServer(context.Background(), "s@workspace")
		})
		v.allowLaunch(event.ScopeAlways)
		if !start.over() || start.err != nil {
			t.Fatal(start.err)
		}
		asked("s@workspace") // the user has approved this tool only for s
		if s := w.server("s"); s.Scope != "user" || len(s.Waiting) != 1 {
			t.Errorf("a yes to what is beside took the place: %+v", s)
		}

		w.twoFiles(ofServer(mine), ofServer(theirs)) // a reload changes nothing
		w.wantListed("s s user", "s@workspace s workspace")
		w.callTo("s@workspace", "echo").ok(t)

		mineRuns := w.call(hub.CallRequest{Server: "s", Tool: "hang", Preapproved: true})
		theirsRun := w.call(hub.CallRequest{Server: "s@workspace", Tool: "hang", Preapproved: true})
		taking := w.startWorkspaceEntry()
		if q := v.launch(); q.Server != "s" || mineRuns.over() || theirsRun.over() {
			t.Errorf("the prompt is %+v", q)
		}
		v.allowLaunch(event.ScopeAlways)
		for _, c := range []*pendingCall{mineRuns, theirsRun} {
			if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); !strings.Contains(e.Message, "agreed to the entry") {
				t.Errorf("the error is %+v", e)
			}
		}
		if !taking.over() || taking.err != nil {
			t.Fatal(taking.err)
		}
		w.wantListed("s s workspace", "s@user s user")
		asked("s") // the approvals under this name were for another server
		w.callTo("s@workspace", "echo").ok(t)
		if w.runs() != "theirs" {
			t.Errorf("runs %s", w.runs())
		}
		asked("s@user")
		if w.runs() != "mine" {
			t.Errorf("runs %s", w.runs())
		}
		w.nothingLeft()
	})
}

// When the consent to a workspace's entry ends and its server has stopped, the user's entry has the name again, and the
// workspace's entry is the server beside it. The windows are told of each server.
func TestBesideFollowsWhatCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
		w.twoFiles(ofServer(mineEntry), ofServer(theirsEntry))
		v, other := w.user("one"), w.user("two")
		asked := w.startWorkspaceEntry()
		v.allowLaunch(event.ScopeWindow)
		if !asked.over() || asked.err != nil {
			t.Fatal(asked.err)
		}
		w.wantListed("s s workspace", "s@user s user")
		w.callTo("s@user", "echo").ok(t)
		v.win.Detach(true)
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		w.wantListed("s s user", "s@workspace s workspace")
		now := map[string]string{}
		for _, e := range eventsOf[*event.ServerChanged](other) {
			if delete(now, e.Server.Name); !e.Removed {
				now[e.Server.Name] = e.Server.Scope
			}
		}
		if want := map[string]string{"s": "user", "s@workspace": "workspace"}; !cmp.Equal(now, want) {
			t.Errorf("a window knows %v", now)
		}

		w.twoFiles(ofServer(mineEntry), "") // the folder is closed
		w.wantListed("s s user")
		w.callTo("s@workspace", "echo").want(t, event.CodeNotFound, event.ReasonServerNotFound)
		w.nothingLeft()
	})
}

// A server beside another one starts only when it is named: neither a list of all tools nor "start": "eager" starts it.
func TestBesideStartsByItsNameAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const mine = `{"command":"s","args":["mine"],"start":"eager"}`
		w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
		trusted := hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site", Trusted: true,
			JSON: ofServer(theirsEntry)}
		if _, _, _, err := w.hub.LoadConfig(context.Background(),
			[]hub.ConfigSource{{Path: userFile, Scope: "user", JSON: ofServer(mine)}, trusted}); err != nil {
			t.Fatal(err)
		}
		w.wantListed("s s workspace", "s@user s user")
		tools, _, err := w.hub.Tools(context.Background(), "")
		if err != nil || len(tools) != 2 || tools[0].Server != "s" {
			t.Errorf("all tools: %+v, %v", tools, err)
		}
		known, _, err := w.hub.KnownTools(context.Background(), "")
		if err != nil || len(known) != 2 {
			t.Errorf("all known tools: %+v, %v", known, err)
		}
		if all := w.started(); len(all) != 1 || all[0].Args[0] != "theirs" {
			t.Errorf("%d starts", len(all))
		}
		tools, _, err = w.hub.Tools(context.Background(), "s@user")
		if err != nil || len(tools) != 2 || tools[0].Server != "s@user" || w.runs() != "mine" {
			t.Errorf("tools of the user's: %+v, %v", tools, err)
		}
		w.nothingLeft()
	})
}

// A reload affects only the one of the two entries that changed. A file that is half written removes neither.
func TestReloadOfOneScope(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, v, running := switchWorld(t)
		c := w.call(hub.CallRequest{Server: "s@workspace", Tool: "hang"})
		v.allowLaunch(event.ScopeOnce)
		w.server("s")
		changed := strings.Replace(mineEntry, `"mine"`, `"mine","more"`, 1)
		w.twoFiles(ofServer(mineEntry), `{"servers":{"s":`)
		w.twoFiles(`{"servers":{"s":`, ofServer(theirsEntry))
		w.wantListed("s s user", "s@workspace s workspace")
		if running.over() || c.over() {
			t.Error("half a file ended calls")
		}
		w.twoFiles(ofServer(changed), ofServer(theirsEntry))
		running.want(t, event.CodeCancelled, event.ReasonCancelled)
		if w.server("s"); c.over() {
			t.Error("a change of the user's entry ended a call of the workspace's")
		}
		w.twoFiles(ofServer(changed), ofServer(`{"command":"s","args":["others"]}`))
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if s := w.server("s@workspace"); s.LaunchConsent != event.LaunchNeeded {
			t.Errorf("another form: %v", s.LaunchConsent)
		}
		w.twoFiles(`{"servers":{}}`, ofServer(theirsEntry))
		w.wantListed("s s workspace")
		w.nothingLeft()
	})
}

// A workspace's entry that is named like the address of the user's server gets none of its calls, even if the entry is
// broken. A workspace's entry whose address is the name of a user's server takes nothing from that server.
func TestWorkspaceTakesNoAddress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
		v := w.user("")
		for _, bad := range []string{theirsEntry, `{"command":[]}`} {
			w.twoFiles(ofServer(mineEntry), `{"servers":{"s@user":`+bad+`}}`)
			w.callTo("s@user", "echo").ok(t)
			if v.noPrompt(); w.runs() != "mine" {
				t.Errorf("%s runs %s", bad, w.runs())
			}
		}
		_, problems, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{
			{Path: userFile, Scope: "user", JSON: ofServer(mineEntry)},
			{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site",
				JSON: `{"servers":{"s@user":` + theirsEntry + `}}`}})
		if err != nil || len(problems) != 1 || problems[0].File != workspaceFile || problems[0].Fatal ||
			!strings.Contains(problems[0].Message, "another name") {
			t.Errorf("problems %+v, error %v", problems, err)
		}
		w.wantListed("s s user")

		w.twoFiles(`{"servers":{"x@workspace":`+mineEntry+`,"x":`+mineEntry+`}}`, `{"servers":{"x":`+theirsEntry+`}}`)
		w.wantListed("x@workspace x@workspace user", "x x user")
		w.callTo("x@workspace", "echo").ok(t)
		if v.noPrompt(); w.runs() != "mine" {
			t.Errorf("runs %s", w.runs())
		}
		w.nothingLeft()
	})
}

// questions is a window that sends the ids of the prompts that open in it. It must have room for all of them, since
// Deliver is called with the hub's lock held.
type questions chan string

func (q questions) Deliver(e event.Event) {
	if o, ok := e.Body.(*event.PromptOpened); ok {
		q <- o.Prompt.ID
	}
}

func (questions) Closed(*event.Error) {}

// There are calls to both servers, reloads, and changes from one entry to the other at the same time. Each call ends,
// and a call by an address is answered by the server with that address.
func TestBothScopesRace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		says := func(text string) *fakeserver.Server {
			s := fakeserver.New()
			s.Tool("echo", func(c *fakeserver.CallContext) { c.Text(text) })
			return s
		}
		w := newWorldWith(t, hub.Options{}, map[string]*fakeserver.Server{"m": says("user"), "t": says("workspace")})
		mine, theirs := ofServer(`{"command":"m","alwaysAllow":["*"]}`), ofServer(`{"command":"t","alwaysAllow":["*"]}`)
		w.twoFiles(mine, theirs)
		w.everything() // checks the order of the events
		asked := make(questions, 10_000)
		person, _, err := w.hub.Attach(hub.Hello{WindowID: "one", Kinds: startKinds}, asked)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		stop := make(chan struct{})
		all.Go(func() { // plays a person who agrees to everything, until stop is closed
			for {
				select {
				case <-stop:
					return
				case id := <-asked:
					_ = person.Answer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept, Scope: event.ScopeWindow})
					w.hub.Servers()
				}
			}
		})
		var work sync.WaitGroup
		addresses := []string{"s", "s@user", "s@workspace"}
		for _, address := range addresses {
			for range 2 {
				work.Go(func() {
					for range 15 {
						r, err := w.hub.CallTool(context.Background(), hub.CallRequest{Server: address, Tool: "echo"})
						if e := event.AsError(err); err != nil && e.Code != event.CodeCancelled && e.Code != event.CodeUnavailable &&
							e.Reason != event.ReasonServerNotFound {
							t.Errorf("%s: %v", address, err)
						}
						_, scope, _ := strings.Cut(address, "@")
						if err == nil && !strings.Contains(string(r.Result), scope) {
							t.Errorf("%s: %s answers", address, r.Result)
						}
					}
				})
			}
		}
		work.Go(func() {
			for i := range 10 {
				if i%2 == 0 {
					_, _ = w.hub.StartWorkspaceEntry(context.Background(), "s")
				} else {
					var ids []string
					for _, r := range w.hub.Remembered("") {
						ids = append(ids, r.ID)
					}
					w.hub.Forget(ids)
					_, _ = w.hub.StopServer(context.Background(), "s", "")
				}
				w.twoFiles(mine, theirs)
			}
		})
		work.Wait()
		for _, address := range addresses { // nothing changes any more
			w.callTo(address, "echo").ok(t)
		}
		close(stop)
		all.Wait()
		servers, _ := w.hub.Servers()
		if len(servers) != 2 || servers[0].Name != "s" || servers[1].ConfigName != "s" {
			t.Errorf("the servers are %+v", servers)
		}
		if bad := w.hub.Inconsistent(); bad != "" {
			t.Error(bad)
		}
	})
}
