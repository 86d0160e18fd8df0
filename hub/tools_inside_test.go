package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// having makes a server with these tools.
func having(tools ...string) *fakeserver.Server {
	s := fakeserver.New()
	for _, name := range tools {
		s.Tool(name, func(c *fakeserver.CallContext) { c.Text(name) })
	}
	return s
}

// names gives what is shown of tools: server, name, policy, and whether they are cached.
func names(list []event.ToolInfo) (all []string) {
	for _, t := range list {
		text := fmt.Sprintf("%s %s %v", t.Server, t.Name, t.Policy)
		if t.Cached {
			text += " cached"
		}
		all = append(all, text)
	}
	return all
}

// The tools of all servers are in the order of the config, each with its policy, without those that the config hides; a
// server that is switched off is left out, and the trouble of one hides the tools of no other.
func TestToolsOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policies := map[string]config.Policy{"one": config.Allow, "two": config.Deny, "three": config.Ask}
		refusing := having()
		refusing.Handle("tools/list", func(c *fakeserver.CallContext) { c.Error(-32603, "out of order") })
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"z": having("one", "two"), "a": having("one", "hidden", "three"),
			"off": having("four"), "refusing": refusing},
			config.Server{Name: "z", Approvals: policies}, config.Server{Name: "refusing"},
			config.Server{Name: "off", Disabled: true}, config.Server{Name: "gone"},
			config.Server{Name: "a", Approvals: policies, Tools: config.ToolFilter{Hidden: []string{"hid*"}}})
		list, troubles, err := h.Tools(t.Context(), "")
		want := []string{fmt.Sprintf("z one %v", event.PolicyAllow), fmt.Sprintf("z two %v", event.PolicyDeny),
			fmt.Sprintf("a one %v", event.PolicyAllow), fmt.Sprintf("a three %v", event.PolicyAsk)}
		if diff := cmp.Diff(want, names(list)); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if len(troubles) != 2 || list[0].Hash == list[1].Hash {
			t.Errorf("troubles %v; the hashes %s and %s", troubles, list[0].Hash, list[1].Hash)
		}
		wantsRefused(t, "refusing", troubles["refusing"], event.CodeUnavailable, event.ReasonServerFailed,
			`server "refusing" did not list its tools: `)
		if !strings.Contains(troubles["refusing"].Message, "out of order") {
			t.Errorf("refusing: %v", troubles["refusing"])
		}
		wantsRefused(t, "gone", troubles["gone"], event.CodeUnavailable, event.ReasonServerFailed, "no such program")
		_, _, err = h.Tools(t.Context(), "off")
		wantsRefused(t, "off", err, event.CodeFailedPrecondition, event.ReasonServerDisabled, `"off"`)
		_, _, err = h.Tools(t.Context(), "none")
		wantsRefused(t, "none", err, event.CodeNotFound, event.ReasonServerNotFound, `"none"`)
	})
}

// A list of all starts a few servers at once and the others as these get ready. One that is connected needs no room:
// its tools are asked for while the starts of others hang. A caller that stops waiting gets what there is.
func TestListOfAllStartsAFewAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 3 * core.MaxEager
		let := make(chan struct{})
		fakes := map[string]*fakeserver.Server{"up": having("tool")}
		confs := make([]config.Server, 0, many+1)
		for i := range many {
			name := fmt.Sprintf("s%02d", i)
			fake := having("tool")
			fake.Handle("initialize", func(c *fakeserver.CallContext) {
				<-let
				c.Result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
			})
			fakes[name], confs = fake, append(confs, config.Server{Name: name})
		}
		h := newInside(t, Options{}, fakes, append(confs, config.Server{Name: "up"})...)
		if _, _, err := h.Tools(t.Context(), "up"); err != nil {
			t.Fatal(err)
		}
		begun := func() (n int) {
			synctest.Wait()
			for _, conf := range confs {
				n += h.started(conf.Name)
			}
			return n
		}

		ctx, cancel := context.WithCancelCause(t.Context())
		type listed struct {
			list     []event.ToolInfo
			troubles map[string]*event.Error
		}
		first, second := make(chan listed, 1), make(chan listed, 1)
		ask := func(ctx context.Context, done chan listed) {
			list, troubles, err := h.Tools(ctx, "")
			if err != nil {
				t.Error(err)
			}
			done <- listed{list, troubles}
		}
		go ask(ctx, first)
		if n := begun(); n != core.MaxEager {
			t.Errorf("%d servers were started at once, want %d", n, core.MaxEager)
		}
		go ask(t.Context(), second) // no room of its own: both lists together start as many
		if n := begun(); n != core.MaxEager {
			t.Errorf("with a second list %d servers are started at once, want %d", n, core.MaxEager)
		}
		cancel(errGone)
		got := <-first
		if diff := cmp.Diff([]string{fmt.Sprintf("up tool %v", event.PolicyAsk)}, names(got.list)); diff != "" {
			t.Errorf("who stopped waiting got (-want +got):\n%s", diff)
		}
		if len(got.troubles) != many {
			t.Errorf("%d troubles, want %d", len(got.troubles), many)
		}
		for name, err := range got.troubles {
			wantsRefused(t, name, err, event.CodeCancelled, event.ReasonCancelled, "stopped waiting")
		}
		close(let)
		if got = <-second; len(got.list) != many+1 || len(got.troubles) != 0 {
			t.Errorf("the other list has %d tools and the troubles %v", len(got.list), got.troubles)
		}
		if n := begun(); n != many {
			t.Errorf("%d starts for %d servers", n, many)
		}
	})
}

// A connected server that does not list its tools is a trouble, as is one that cannot be used; one that has ended by
// that has its last ones.
func TestKnownToolsOfAServerThatDoesNotList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuses := having("one")
		ends := having("one")
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"refuses": refuses, "ends": ends},
			config.Server{Name: "refuses"}, config.Server{Name: "ends"}, config.Server{Name: "off", Disabled: true})
		if _, troubles, err := h.Tools(t.Context(), ""); err != nil || len(troubles) != 0 {
			t.Fatal(err, troubles)
		}
		refuses.Handle("tools/list", func(c *fakeserver.CallContext) { c.Error(-32603, "out of order") })
		ends.Handle("tools/list", func(c *fakeserver.CallContext) { c.Disconnect() })
		for _, fake := range []*fakeserver.Server{refuses, ends} {
			if err := fake.NotifyToolsChanged(); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		_, _, err := h.KnownTools(t.Context(), "refuses")
		wantsRefused(t, "refuses", err, event.CodeUnavailable, event.ReasonServerFailed, "did not list its tools")
		list, _, err := h.KnownTools(t.Context(), "ends")
		if err != nil || !slices.ContainsFunc(list, func(t event.ToolInfo) bool { return t.Name == "one" && t.Cached }) {
			t.Errorf("%v, %v", names(list), err)
		}
		_, _, err = h.KnownTools(t.Context(), "off")
		wantsRefused(t, "off", err, event.CodeFailedPrecondition, event.ReasonServerDisabled, `"off"`)
		_, _, err = h.KnownTools(t.Context(), "none")
		wantsRefused(t, "none", err, event.CodeNotFound, event.ReasonServerNotFound, `"none"`)
	})
}

// A tool is looked for in a list of now, also when one that lacks it is there: not every server tells of new tools. A
// name that is not there is refused with what may have been meant, and nothing that the config hides.
func TestFindTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := having("read_file", "secret_file")
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": fake},
			config.Server{Name: "s", Tools: config.ToolFilter{Hidden: []string{"secret_*"}}})
		s := h.the("s")
		find := func(name string) (*mcp.Tool, error) {
			tool, session, err := findTool(t.Context(), s, 1<<32, "r1", name)
			if err == nil && session != s.session() {
				t.Errorf("%s was found on another session", name)
			}
			return tool, err
		}
		tool, err := find("read_file")
		if err != nil || tool.Name != "read_file" {
			t.Errorf("%v, %v", tool, err)
		}
		fake.Tool("write_file", func(c *fakeserver.CallContext) { c.Text("x") })
		if tool, err = find("write_file"); err != nil || tool.Name != "write_file" {
			t.Errorf("%v, %v", tool, err)
		}
		before := fake.Count(fakeserver.Method("tools/list"))
		if _, err = find("write_file"); err != nil || fake.Count(fakeserver.Method("tools/list")) != before {
			t.Errorf("%v; a list that has the tool was asked for again", err)
		}
		_, err = find("read_fil\x07")
		wantsRefused(t, "unknown", err, event.CodeNotFound, event.ReasonToolNotFound, `did you mean "read_file"?`)
		if e := event.AsError(err); e.Meta["request_id"] != "r1" || e.Meta["server"] != "s" {
			t.Errorf("it says %v", e.Meta)
		}
		_, err = find("secret_fil")
		wantsRefused(t, "unknown", err, event.CodeNotFound, event.ReasonToolNotFound, `has no tool "secret_fil"`)
		if e := event.AsError(err); e.Message != `server "s" has no tool "secret_fil"` {
			t.Errorf("the refusal of what is hidden says %q", e.Message)
		}
	})
}

// A list that the server called fresh for an hour is asked for again when it lacks the name.
func TestFindToolInAFreshList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := fakeserver.New(fakeserver.WithModern())
		list := `{"name":"a","inputSchema":{"type":"object"}}`
		fake.Handle("tools/list", func(c *fakeserver.CallContext) {
			c.Result(`{"resultType":"complete","ttlMs":3600000,"cacheScope":"private","tools":[` + list + `]}`)
		})
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
		for _, name := range []string{"a", "b"} {
			if tool, _, err := findTool(t.Context(), h.the("s"), 1<<32, "r1", name); err != nil ||
				tool.Name != name {
				t.Errorf("%v, %v", tool, err)
			}
			list += `,{"name":"b","inputSchema":{"type":"object"}}`
		}
	})
}

// A search for a tool ends when the list does not come in time, and with the context of its request.
func TestFindToolEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := having()
		fake.Handle("tools/list", func(c *fakeserver.CallContext) { _ = c.Hang() })
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
		_, _, err := findTool(t.Context(), h.the("s"), 1<<32, "r1", "x")
		wantsRefused(t, "late", err, event.CodeDeadlineExceeded, event.ReasonConnectTimeout, "did not list its tools within 1m0s")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errGone)
		defer cancel()
		if _, _, err = findTool(ctx, h.the("s"), 1<<32, "r2", "x"); err != errGone {
			t.Errorf("the end of the request gave %v", err)
		}
	})
}
