package launch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/userenv"
)

// house is a hub with one server that is never started, the owner of its launch, and the person who is asked.
type house struct {
	*launch.Launch
	t        *testing.T
	core     *core.State
	draining bool
	work     sync.WaitGroup // the goroutines of Go

	answers []launch.Answer // of the person, in turn; Agreed also records the yes
	scope   event.ApprovalScope
	asked   []grants.Form
	amid    func() // while the person is asked
	values  func() (map[string]string, error)

	mu       sync.Mutex
	changed  int
	outdated int
	switched []string // files
}

func newHouse(t *testing.T) *house {
	h := &house{t: t, scope: event.ScopeAlways}
	t.Cleanup(h.work.Wait)
	log := slog.New(slog.DiscardHandler)
	maker := &launch.Maker{House: h, User: userenv.New(userenv.Options{Logger: log}),
		Grants: grants.Open("", "hub-1", log), Redactor: &redact.Redactor{}, Logger: log}
	h.core = core.New("house")
	table := servers.NewTable(servers.Options{House: h, Core: h.core, Apply: h.apply, Logger: log,
		Redactor: maker.Redactor})
	s := table.New(servers.Entry{Conf: config.Server{Name: "s"}}, servers.Accounts{}, nil)
	table.Add(s, false)
	h.Launch = maker.New(s, h)
	return h
}

// The house, for servers.

func (h *house) Update(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}
func (h *house) Go(f func())    { h.work.Go(f) }
func (h *house) Draining() bool { return h.draining }

// apply applies an event, and does nothing of what follows.
func (h *house) apply(e core.Event) { h.core.Apply(time.Now(), e) }

// The owner.

func (h *house) Refresh()  {}
func (h *house) Changed()  { h.changed++ }
func (h *house) Outdated() { h.outdated++ }

func (h *house) Switch(to *launch.Entry, why string) {
	h.switched = append(h.switched, to.Conf.Origin.File)
	if !strings.Contains(why, to.Conf.Origin.File) {
		h.t.Errorf("the change over is told with %q", why)
	}
	h.Take(to, h.Entries(), true)
}

func (h *house) Values(context.Context, config.Server, bool) (map[string]string, error) {
	if h.values != nil {
		return h.values()
	}
	return nil, nil
}

func (h *house) Share(_ context.Context, _ bool, find func(launch.Ask) (bool, error)) error {
	_, err := find(h.ask)
	return err
}

func (h *house) ask(f *grants.Form) (launch.Answer, error) {
	h.asked = append(h.asked, *f)
	h.Update(func() { h.Opened(1) })
	if h.amid != nil {
		h.amid()
	}
	h.Update(func() { h.Opened(-1) })
	if len(h.answers) == 0 {
		return 0, errors.New("nobody answers")
	}
	answer := h.answers[0]
	if h.answers = h.answers[1:]; answer == launch.Agreed {
		h.Launch.Grants.Agree(f.Grant, h.scope, "w1")
	}
	return answer, nil
}

const folderFile, userFile = "/repo/.vscode/mcp.json", "/config/mcp.json"

// ofFolder is an entry that a folder brings, ofUser one of the user's own file.
func ofFolder(url string) config.Server {
	return config.Server{Name: "s", Transport: config.TransportHTTP, URL: url,
		Origin: config.Origin{File: folderFile, Line: 3, Scope: "workspace",
			Dialect: config.DialectVSCode, Folder: "/repo"}}
}

func ofUser(url string) config.Server {
	return config.Server{Name: "s", Transport: config.TransportHTTP, URL: url,
		Origin: config.Origin{File: userFile, Line: 9, Scope: "user",
			Dialect: config.DialectVSCode}}
}

// reads makes the given configs the entries of the launch, as a config that is read does.
func (h *house) reads(first config.Server, behind ...config.Server) {
	first.Behind = behind
	all := h.Maker.Entries(first)
	h.Update(func() {
		counts := h.Counting(h.Launch, all)
		h.Server().Reconfigure(servers.Entry{Conf: counts.Conf, Key: counts.Key})
		h.Take(counts, all, true)
	})
}

func (h *house) prepare() error {
	h.t.Helper()
	conf := h.Entry().Conf
	r, err := h.Prepare(context.Background(), conf, false)
	if err == nil && r.URL != conf.URL {
		h.t.Errorf("the resolved URL is %q, want %q", r.URL, conf.URL)
	}
	return err
}

func (h *house) told() event.LaunchConsent {
	var i event.ServerInfo
	h.Update(func() { h.Tell(&i) })
	return i.LaunchConsent
}

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	if err == nil || event.AsError(err).Reason != reason {
		t.Errorf("error %v, want %s", err, reason)
	}
}

// What the user's own file says starts without a question.
func TestOwnEntryNeedsNobody(t *testing.T) {
	h := newHouse(t)
	h.reads(ofUser("https://a.example/mcp"))
	if err := h.prepare(); err != nil || len(h.asked) != 0 || h.MustAsk() || h.told() != 0 || h.Refusal() != nil {
		t.Errorf("asked %d times, error %v", len(h.asked), err)
	}
}

// Each answer of a person, and what comes of it: a No holds until AskAgain, or until the entry is another one.
func TestAnswers(t *testing.T) {
	h := newHouse(t)
	h.reads(ofFolder("https://a.example/mcp"))
	if !h.MustAsk() || h.told() != event.LaunchNeeded {
		t.Fatalf("a folder's entry needs no consent: %v", h.told())
	}
	h.amid = func() {
		if h.told() != event.LaunchAsking {
			t.Errorf("while a person is asked the consent is %v", h.told())
		}
	}
	h.answers = []launch.Answer{launch.Dismissed}
	wantReason(t, h.prepare(), event.ReasonLaunchDeclined)
	if h.told() != event.LaunchNeeded || h.Refusal() != nil {
		t.Errorf("a question that was closed counts as a No: %v", h.Refusal())
	}

	h.answers = []launch.Answer{launch.Outdated, launch.Outdated, launch.Declined}
	wantReason(t, h.prepare(), event.ReasonLaunchDeclined)
	if len(h.asked) != 4 || h.told() != event.LaunchDeclined {
		t.Errorf("asked %d times, the consent is %v", len(h.asked), h.told())
	}
	wantReason(t, h.prepare(), event.ReasonLaunchDeclined)
	wantReason(t, h.Refusal(), event.ReasonLaunchDeclined)
	if len(h.asked) != 4 {
		t.Error("who has declined is asked again")
	}

	h.AskAgain()
	h.answers = []launch.Answer{launch.Agreed}
	if err := h.prepare(); err != nil || h.told() != event.LaunchGiven || h.MustAsk() || h.Refusal() != nil {
		t.Errorf("error %v, the consent is %v", err, h.told())
	}
	if err := h.prepare(); err != nil || len(h.asked) != 5 {
		t.Errorf("asked %d times, error %v", len(h.asked), err)
	}

	h.reads(ofFolder("https://evil.example/mcp"))
	if !h.MustAsk() {
		t.Fatal("a yes to one address holds for another")
	}
	if wantErr := h.prepare(); wantErr == nil || len(h.asked) != 6 || !h.asked[5].Question.Changed {
		t.Errorf("error %v, the question says nothing of the change: %+v", wantErr, h.asked[5].Question)
	}
}

// A No to one form is no No to another: a changed file is asked about again.
func TestNoIsToOneForm(t *testing.T) {
	h := newHouse(t)
	h.reads(ofFolder("https://a.example/mcp"))
	h.answers = []launch.Answer{launch.Declined}
	wantReason(t, h.prepare(), event.ReasonLaunchDeclined)
	h.reads(ofFolder("https://b.example/mcp"))
	if h.told() != event.LaunchNeeded || h.Refusal() != nil {
		t.Errorf("the consent is %v, refused with %v", h.told(), h.Refusal())
	}
}

// Of the entries of one name the first counts that needs no yes or has one; a yes makes the server change over, and one
// that ends takes it back.
func TestWhichEntryCounts(t *testing.T) {
	h := newHouse(t)
	h.reads(ofFolder("https://a.example/mcp"), ofUser("https://b.example/mcp"))
	var i event.ServerInfo
	h.Tell(&i)
	if h.Entry().Conf.Origin.File != userFile || len(i.Waiting) != 1 || i.Waiting[0].File != folderFile ||
		len(i.Shadows) != 0 || h.MustAsk() {
		t.Fatalf("a folder's entry counts unasked: %+v", i)
	}
	form := func() (f grants.Form) {
		h.answers = []launch.Answer{launch.Dismissed}
		_ = h.AskWaiting(context.Background())
		return h.asked[len(h.asked)-1]
	}()

	h.Launch.Grants.SetFolders("w1", nil)
	h.Launch.Grants.Agree(form.Grant, event.ScopeWindow, "w1")
	h.Update(func() { h.Opened(1); h.Settle() })
	if len(h.switched) != 0 {
		t.Error("the server changed over under an open question")
	}
	h.Update(func() { h.Opened(-1); h.draining = true; h.Settle() })
	if len(h.switched) != 0 {
		t.Error("the server changed over in a hub that ends")
	}
	h.draining = false
	h.Update(func() { h.Settle(); h.Settle() })
	h.Tell(&i)
	if diff := cmp.Diff([]string{folderFile}, h.switched); diff != "" || h.Entry().Conf.Origin.File != folderFile {
		t.Errorf("changed over to (-want +got):\n%s", diff)
	}

	h.Launch.Grants.EndWindow("w1")
	h.Update(func() { h.Reconsider() })
	if diff := cmp.Diff([]string{folderFile, userFile}, h.switched); diff != "" {
		t.Errorf("when the yes ended it changed over to (-want +got):\n%s", diff)
	}
}

// With no entry but those that need a yes, the first is asked about.
func TestFirstOfFoldersIsAskedAbout(t *testing.T) {
	h := newHouse(t)
	second := ofFolder("https://b.example/mcp")
	second.Origin.File = "/other/.vscode/mcp.json"
	h.reads(ofFolder("https://a.example/mcp"), second)
	var i event.ServerInfo
	h.Tell(&i)
	if h.Entry().Conf.Origin.File != folderFile || len(i.Waiting) != 0 || len(i.Shadows) != 1 || !h.MustAsk() {
		t.Errorf("%+v", i)
	}
	if err := h.AskWaiting(context.Background()); err != nil || len(h.asked) != 0 {
		t.Errorf("nothing waits, and %d were asked: %v", len(h.asked), err)
	}
}

// A config that is read anew while a person is asked: what was agreed to counts for what it was, and what is gone is
// not started.
func TestConfigChangesMeanwhile(t *testing.T) {
	h := newHouse(t)
	h.reads(ofFolder("https://a.example/mcp"))
	h.answers = []launch.Answer{launch.Agreed}
	h.amid = func() { h.reads(ofFolder("https://evil.example/mcp")) }
	wantReason(t, h.prepare(), event.ReasonServerStopped)
	if !h.MustAsk() || len(h.asked) != 1 {
		t.Errorf("the yes to what was there before counts for what is there now; asked %d times", len(h.asked))
	}

	// a caller that does not wait any more is told why
	h = newHouse(t)
	h.reads(ofFolder("https://a.example/mcp"))
	was := h.Entry().Conf
	h.reads(ofFolder("https://b.example/mcp"))
	cause := errors.New("the start was stopped")
	ctx, stop := context.WithCancelCause(context.Background())
	stop(cause)
	if _, err := h.Prepare(ctx, was, false); !errors.Is(err, cause) || len(h.asked) != 0 {
		t.Errorf("error %v, asked %d times", err, len(h.asked))
	}

	// the same entry, read anew at each look: it ends with the caller's context
	h = newHouse(t)
	h.reads(ofFolder("https://a.example/mcp"))
	ctx, stop = context.WithCancelCause(context.Background())
	looks := 0
	h.OnForm = func() {
		if looks++; looks%2 == 1 { // not in the look of the reading itself
			h.reads(ofFolder("https://a.example/mcp"))
		}
		if looks > 100 {
			stop(cause)
		}
	}
	if _, err := h.Prepare(ctx, h.Entry().Conf, false); !errors.Is(err, cause) || looks < 100 {
		t.Errorf("error %v after %d looks", err, looks)
	}
}

// A yes that is taken back while values are asked for is none: what is started is what holds at the end.
func TestYesIsTakenBackMeanwhile(t *testing.T) {
	h := newHouse(t)
	h.reads(ofFolder("https://a.example/mcp"))
	h.answers = []launch.Answer{launch.Agreed, launch.Declined}
	h.values = func() (map[string]string, error) {
		ids := map[string]bool{}
		for _, r := range h.Launch.Grants.List() {
			ids[r.ID] = true
		}
		if h.Launch.Grants.Forget(ids) == 0 {
			t.Error("there was no yes")
		}
		return nil, nil
	}
	wantReason(t, h.prepare(), event.ReasonLaunchDeclined)
	if len(h.asked) != 2 {
		t.Errorf("asked %d times", len(h.asked))
	}
}

// What a folder's file allows counts only with the consent; what it denies always counts.
func TestPolicyOfAFolder(t *testing.T) {
	h := newHouse(t)
	conf := ofFolder("https://a.example/mcp")
	conf.Approvals = map[string]config.Policy{"read": config.Allow, "rm": config.Deny}
	h.reads(conf)
	want := func(read config.Policy) {
		t.Helper()
		if got := fmt.Sprint(h.Policy("read"), h.Policy("rm"), h.Policy("x")); got != fmt.Sprint(read, config.Deny,
			config.Ask) {
			t.Errorf("policies %s", got)
		}
	}
	want(config.Ask)
	h.answers = []launch.Answer{launch.Agreed}
	if err := h.prepare(); err != nil {
		t.Fatal(err)
	}
	want(config.Allow)
	conf.Approvals = map[string]config.Policy{"read": config.Allow, "rm": config.Deny, "x*": config.Allow}
	if h.reads(conf); h.Policy("x") != config.Ask || h.Policy("rm") != config.Deny {
		t.Error("a yes holds for tools that the file allows since")
	}
	conf.Tools.Hidden = []string{"y"}
	h.reads(conf)
	h.answers = []launch.Answer{launch.Agreed}
	if err := h.prepare(); err != nil || h.MustAsk() {
		t.Fatalf("must ask: %v (%v)", h.MustAsk(), err)
	}
	conf.Tools.Hidden = nil
	if h.reads(conf); !h.MustAsk() {
		t.Error("a yes holds for tools that the file shows since")
	}
}

// An entry of which a value is missing is not started; a secret that is resolved is redacted from then on.
func TestValuesAndSecrets(t *testing.T) {
	h := newHouse(t)
	conf := ofUser("https://a.example/mcp")
	token := "Bearer ${input:token}"
	conf.Header = map[string]string{"Authorization": token}
	conf.Inputs = []config.Input{{ID: "token", Secret: true, Origin: conf.Origin}}
	h.reads(conf)
	wantReason(t, h.prepare(), event.ReasonInputMissing)
	h.values = func() (map[string]string, error) { return nil, errors.New("the user said no") }
	if err := h.prepare(); err == nil || err.Error() != "the user said no" {
		t.Errorf("error %v", err)
	}
	h.values = func() (map[string]string, error) { return map[string]string{"token": "tok-5521-abc"}, nil }
	if err := h.prepare(); err != nil {
		t.Fatal(err)
	}
	if text := h.Redactor.Text("it sent tok-5521-abc"); strings.Contains(text, "tok-5521") {
		t.Error("a value of a secret input is shown")
	}
}

// A question is about an entry for as long as the config has exactly that entry.
func TestAsks(t *testing.T) {
	h := newHouse(t)
	h.reads(ofFolder("https://a.example/mcp"))
	_ = h.prepare()
	key := h.asked[0].Key
	if !h.Asks(key) || h.Asks(grants.Key{}) {
		t.Error("a question about the entry of now is about none")
	}
	h.reads(ofFolder("https://b.example/mcp"), ofUser("https://c.example/mcp"))
	if h.Asks(key) || h.Asks(grants.Key{}) {
		t.Error("a question about what was there before is about the entry of now")
	}
	before := h.changed
	if agreed := h.Reconsider(); agreed || h.changed != before {
		t.Errorf("nothing has changed: agreed %v, told %d times", agreed, h.changed-before)
	}
}
