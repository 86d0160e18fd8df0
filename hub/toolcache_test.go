package hub_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// known returns the tools that are known of a server, with "(cached)" behind those of an earlier connection.
func (w *world) known(name string) string {
	w.t.Helper()
	list, troubles, err := w.hub.KnownTools(context.Background(), name)
	if err != nil || len(troubles) != 0 {
		w.t.Fatal(err, troubles)
	}
	var names []string
	for _, t := range list {
		if t.Cached {
			t.Name += "(cached)"
		}
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// The tools of a server are known before it is up, from its last connection or that of an earlier hub. Nothing is
// started for that.
func TestCachedToolsBeforeTheServerIsUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		const odd = `{"name":"b", "description":"<&>é",  "inputSchema":{"type":"object"},"x":1.0}`
		s := answers("a")
		s.ToolWith(odd, func(c *fakeserver.CallContext) { c.Text("b") })
		w := newWorldIn(t, dir, serversOf("s", s), "s:"+allow)
		if got := w.known("s"); got != "" || w.starts("s") != 0 {
			t.Errorf("before its first start: %q, %d starts", got, w.starts("s"))
		}
		listed, _, err := w.hub.Tools(context.Background(), "s")
		if err != nil || len(listed) != 2 {
			t.Fatal(listed, err)
		}
		if got := w.known("s"); got != "a b" {
			t.Errorf("of the connection: %q", got)
		}
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		if got := w.known("s") + ", all: " + w.known(""); got != "a(cached) b(cached), all: a(cached) b(cached)" ||
			w.starts("s") != 1 {
			t.Errorf("after a stop: %q, %d starts", got, w.starts("s"))
		}
		synctest.Wait()

		later := newWorldIn(t, dir, serversOf("s", s))
		v := later.everything()
		list, _, err := later.hub.KnownTools(context.Background(), "s")
		if err != nil || len(list) != 2 || list[1].Definition != listed[1].Definition || list[1].Hash != listed[1].Hash ||
			!list[1].Cached || list[1].Policy != event.PolicyAsk || later.starts("s") != 0 {
			t.Fatalf("of another hub: %+v, %v, %d starts", list, err, later.starts("s"))
		}

		// The question can be asked before the server is up; the answer holds for the same definition in the server's
		// list.
		c := later.call(hub.CallRequest{Server: "s", Tool: "b"})
		p := v.prompt()
		if p.Approval.Tool.Definition != listed[1].Definition || later.starts("s") != 0 {
			t.Errorf("%+v, %d starts", p.Approval, later.starts("s"))
		}
		v.answer(yes(p, event.ScopeOnce))
		c.ok(t)
		v.noPrompt()
		if got := later.known("s"); got != "a b" {
			t.Errorf("%q", got)
		}

		// What the server lists now is what the next hub knows.
		s.RemoveTool("a")
		if err := s.NotifyToolsChanged(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		later.listed("s")
		synctest.Wait()
		third := newWorldIn(t, dir, serversOf("s", s))
		if got := third.known("s"); got != "b(cached)" {
			t.Errorf("%q", got)
		}

		// Another launch is another server. (One that runs would be started anew at once.)
		if _, err := later.hub.StopServer(t.Context(), "s", ""); err != nil {
			t.Fatal(err)
		}
		later.load(`s:"args":["-v"]`)
		if got := later.known("s"); got != "" || later.starts("s") != 1 {
			t.Errorf("after a relaunch: %q", got)
		}
	})
}

// A tool that changed while the server was down is asked about again, although the old definition was approved before
// the server was up.
func TestCachedToolThatChangedIsAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		tool := func(description string) *fakeserver.Server {
			s := fakeserver.New()
			s.ToolWith(`{"name":"a","description":"`+description+`","inputSchema":{"type":"object"}}`,
				func(c *fakeserver.CallContext) {
					c.Text("a")
				})
			return s
		}
		newWorldIn(t, dir, serversOf("s", tool("reads"))).listed("s")
		synctest.Wait()
		s := tool("deletes")
		w := newWorldIn(t, dir, serversOf("s", s))
		v := w.everything()
		c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
		p := v.prompt()
		if p.Approval.Tool.Description != "reads" {
			t.Errorf("%+v", p.Approval)
		}
		v.answer(yes(p, event.ScopeOnce))
		p = v.prompt()
		if p.Approval.Tool.Description != "deletes" || toolCalls(s) != 0 {
			t.Errorf("%+v, %d calls", p.Approval, toolCalls(s))
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
		c.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
	})
}

// What a connection listed is still known while it ends; asking for it starts nothing and does not fail.
func TestKnownToolsWhileTheServerDies(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := answers("a")
		w := newWorld(t, serversOf("s", s))
		w.listed("s")
		s.Disconnect()
		if list, _, err := w.hub.KnownTools(context.Background(), "s"); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
		synctest.Wait()
		if got := w.known("s"); got != "a(cached)" || w.starts("s") != 1 {
			t.Errorf("%q, %d starts", got, w.starts("s"))
		}
	})
}

// The file holds the tools of the 64 servers that were listed last, and of none that has a megabyte of them.
func TestToolFileIsBounded_amount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		fakes := map[string]*fakeserver.Server{}
		for i := range 66 {
			fakes[fmt.Sprintf("s%02d", i)] = answers("a")
		}
		big := fakeserver.New()
		for i := range 3 {
			big.ToolWith(fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{"type":"object"}}`, i,
				strings.Repeat("x", 400<<10)), func(*fakeserver.CallContext) {})
		}
		fakes["big"] = big
		w := newWorldIn(t, dir, fakes)
		for i := range 66 {
			w.listed(fmt.Sprintf("s%02d", i))
			pass(time.Second)
		}
		w.listed("big")
		synctest.Wait()
		if info, err := os.Stat(filepath.Join(dir, "tools.json")); err != nil || info.Size() > 64<<10 ||
			!ofUserAlone(info) {
			t.Errorf("%+v, %v", info, err)
		}
		later := newWorldIn(t, dir, fakes)
		for name, want := range map[string]string{"s00": "", "s01": "", "s02": "a(cached)", "s65": "a(cached)", "big": ""} {
			if got := later.known(name); got != want {
				t.Errorf("known tools of %s: %q, want %q", name, got, want)
			}
		}
	})
}

// A file that is broken, or cannot be written, costs the cache and fails no call; that is logged once.
func TestToolFileThatIsOfNoUse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "tools.json"), []byte(`{"servers":[{"server":"s",`), 0o600); err != nil {
			t.Fatal(err)
		}
		w := newWorldIn(t, dir, serversOf("s", answers("a")))
		if got := w.known("s"); got != "" {
			t.Errorf("%q", got)
		}
		w.listed("s")
		synctest.Wait()
		if got := newWorldIn(t, dir, serversOf("s", answers())).known("s"); got != "a(cached)" {
			t.Errorf("the broken file was not replaced: %q", got)
		}

		nowhere := filepath.Join(dir, "tools.json", "below a file")
		var text bytes.Buffer
		w = newWorldWith(t, hub.Options{StateDir: nowhere, Logger: slog.New(slog.NewTextHandler(&text, nil))},
			map[string]*fakeserver.Server{"s": answers("a"), "t": answers("b")})
		w.listed("s")
		w.listed("t")
		synctest.Wait()
		for _, name := range []string{"s", "t"} {
			if _, err := w.hub.StopServer(context.Background(), name, ""); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.known(""); got != "a(cached) b(cached)" {
			t.Errorf("%q", got)
		}
		unread := 1
		if runtime.GOOS == "windows" {
			unread = 0 // a path below a file counts as missing there
		}
		read := len(regexp.MustCompile(`could not be read" file=.*/tools\.json" error`).FindAllString(text.String(), -1))
		if written := strings.Count(text.String(), "cannot be written"); read != unread || written != 1 {
			t.Errorf("logged %d read and %d write failures, want %d and 1:\n%s", read, written, unread, text.String())
		}
	})
}

// Tools that the config hides are neither listed nor called, and the error names the setting. A change of it restarts
// nothing and is told.
func TestHiddenToolsAreNotThere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		filter := config.ToolFilter{Hidden: []string{"delete_*"}}
		w := editedWorld(t, hub.Options{}, func(s *config.Server) {
			s.Tools = filter
			s.Fields = map[string]config.Place{"tools.hidden": {Line: 7, Column: 3, Key: "disabledTools"}}
		})
		s := answers("read", "delete_all", "write")
		w.servers = serversOf("s", s)
		w.load() // every tool needs an approval, and there is nobody to ask
		v := w.attach(hub.Hello{})
		if got := w.listed("s") + ", known: " + w.known("s"); got != "read write, known: read write" {
			t.Errorf("%q", got)
		}
		e := w.call(hub.CallRequest{Server: "s", Tool: "delete_all"}).want(t, event.CodeNotFound, event.ReasonToolNotFound)
		if e.Message != `tool "delete_all" of server "s" is hidden by disabledTools in test.json:7; change that to use it` ||
			e.Meta["setting"] != "disabledTools" {
			t.Errorf("%s %v", e.Message, e.Meta)
		}
		w.call(hub.CallRequest{Server: "s", Tool: "read", Preapproved: true}).ok(t)

		if n := len(eventsOf[*event.ToolsChanged](v)); n != 0 {
			t.Errorf("%d changes were told", n)
		}
		w.load()
		filter = config.ToolFilter{Only: []string{"read"}}
		w.load()
		if changed := eventsOf[*event.ToolsChanged](v); len(changed) != 1 || changed[0].Server != "s" {
			t.Errorf("%d changes were told", len(changed))
		}
		e = w.call(hub.CallRequest{Server: "s", Tool: "write", Preapproved: true}).want(t, event.CodeNotFound,
			event.ReasonToolNotFound)
		if e.Message != `tool "write" of server "s" is hidden by tools.only in test.json:1; change that to use it` {
			t.Errorf("%s", e.Message)
		}
		if w.starts("s") != 1 || toolCalls(s) != 1 {
			t.Errorf("%d starts, %d calls", w.starts("s"), toolCalls(s))
		}
		filter = config.ToolFilter{Only: []string{}}
		w.load()
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("", w.known("s")); diff != "" || len(eventsOf[*event.ToolsChanged](v)) != 2 {
			t.Error(diff)
		}
	})
}

// A tool that is hidden while a person is asked about it is not called, and the question closes.
func TestToolHiddenUnderItsQuestion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var filter config.ToolFilter
		w := editedWorld(t, hub.Options{}, func(s *config.Server) { s.Tools = filter })
		s := answers("a", "b")
		w.servers = serversOf("s", s)
		w.load()
		v := w.everything()
		w.listed("s")
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
		p := v.prompt()
		filter.Hidden = []string{"a"}
		w.load()
		v.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy, "the config has changed; for this tool it says hidden")
		wantReason(t, v.win.Answer(yes(p, event.ScopeOnce)), event.ReasonPromptClosed)
		c.want(t, event.CodeNotFound, event.ReasonToolNotFound)
		if toolCalls(s) != 0 {
			t.Error("it was called")
		}

		filter.Hidden = nil // and with the server up
		w.load()
		w.listed("s")
		c, other := w.call(hub.CallRequest{Server: "s", Tool: "a"}), w.call(hub.CallRequest{Server: "s", Tool: "b"})
		synctest.Wait()
		filter.Only = []string{"b"}
		w.load()
		c.want(t, event.CodeNotFound, event.ReasonToolNotFound)
		v.answer(yes(v.prompt(), event.ScopeOnce)) // about the other tool
		other.ok(t)
		if toolCalls(s) != 1 || len(w.hub.Remembered("")) != 0 {
			t.Errorf("%d calls", toolCalls(s))
		}
		w.nothingLeft()
	})
}
