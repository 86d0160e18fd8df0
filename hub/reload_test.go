package hub_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// entry is what a test config says of one server; its zero value is a sound entry.
type entry struct {
	absent, disabled, broken bool
	launch, timeout, policy  int
}

func (e entry) text(name string) string {
	if e.broken {
		return fmt.Sprintf(`%q:{"command":[]}`, name)
	}
	return fmt.Sprintf(
		`%q:{"command":%q,"args":["%d"],"timeouts":{"idle":"%dh"},"approvals":{"hang":"allow","echo":%q},"disabled":%v}`,
		name, name, e.launch, e.timeout+1, []string{"allow", "ask", "deny"}[e.policy], e.disabled)
}

// Random edits of a config under running calls, half-written files and broken entries among them, 20 for each seed: a
// call is cancelled only when its server was removed, switched off or changed in how it is launched, and then with the
// reason.
func TestEditsUnderRunningCalls_long(t *testing.T) {
	t.Parallel()
	seeds := uint64(200)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		subtest(t, fmt.Sprint(seed), func(t *testing.T) { editUnderCalls(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func editUnderCalls(t *testing.T, rnd *rand.Rand) {
	names := []string{"a", "b", "c", "d"}
	servers, entries := map[string]*fakeserver.Server{}, map[string]entry{}
	for _, name := range names {
		servers[name] = hanging()
	}
	w := newWorld(t, servers)
	text := func() string {
		var members []string
		for _, name := range names {
			if e := entries[name]; !e.absent {
				members = append(members, e.text(name))
			}
		}
		return `{"mcpServers":{` + strings.Join(members, ",\n") + `}}`
	}
	load := func(text string) {
		t.Helper()
		if _, _, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{{Scope: "host", Path: "test.json",
			JSON: text}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	}
	load(text())
	type running struct {
		*pendingCall
		server string
	}
	calls := map[string]running{}
	last := map[string]entry{} // the sound entry that a server has
	for i := range 20 {
		for _, name := range names {
			e := entries[name]
			if rnd.IntN(3) == 0 && !e.absent && !e.disabled && !e.broken {
				id := fmt.Sprintf("%s-%d", name, i)
				calls[id] = running{w.call(hub.CallRequest{ID: id, Server: name, Tool: "hang"}), name}
			}
		}
		synctest.Wait()
		for _, name := range names {
			if !entries[name].broken {
				last[name] = entries[name]
			}
		}
		before, half := last, rnd.IntN(6) == 0
		if half {
			whole := text()
			load(whole[:1+rnd.IntN(len(whole)-1)])
		} else {
			for range 1 + rnd.IntN(2) {
				name := names[rnd.IntN(len(names))]
				e := entries[name]
				switch rnd.IntN(6) {
				case 0:
					e.absent = !e.absent
				case 1:
					e.disabled = !e.disabled
				case 2:
					e.broken = !e.broken
				case 3:
					e.launch++
				case 4:
					e.timeout++
				case 5:
					e.policy = (e.policy + 1) % 3
				}
				entries[name] = e
			}
			load(text())
		}
		for id, c := range calls {
			was, is := before[c.server], entries[c.server]
			lost := !half && (is.absent || !is.broken && (is.disabled || is.launch != was.launch))
			switch {
			case lost && !c.over():
				t.Fatalf("edit %d: %s goes on although its server is not what it was: %+v, then %+v", i, id, was, is)
			case lost:
				e := c.want(t, event.CodeCancelled, event.ReasonCancelled)
				if e.Meta["origin"] != "host" || !strings.Contains(e.Meta["cancel_reason"], "server") {
					t.Fatalf("edit %d: %s was not told why: %v", i, id, e.Meta)
				}
				delete(calls, id)
			case c.over():
				t.Fatalf("edit %d: %s was lost for nothing: %+v, then %+v, half a file: %v: %v", i, id, was, is, half, c.err)
			}
		}
		if text := w.hub.Inconsistent(); text != "" {
			t.Fatalf("edit %d: %s", i, text)
		}
	}
	for id, c := range calls {
		if _, err := w.hub.CancelRequest(id, "", "done", event.OriginHost); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
	}
}

// A reload that changes nothing touches nothing: no session ends, none begins, no message is sent.
func TestReloadOfTheSameTouchesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := hanging()
		w := newWorld(t, serversOf("a", a), "a:"+allow)
		c := w.call(hub.CallRequest{ID: "r", Server: "a", Tool: "hang"})
		synctest.Wait()
		before := len(a.Received())
		for range 50 {
			if stopped := w.load("a:" + allow); len(stopped) != 0 {
				t.Fatalf("stopped %v", stopped)
			}
		}
		synctest.Wait()
		if w.starts("a") != 1 || len(a.Received()) != before || c.over() {
			t.Errorf("%d starts, %d messages after %d, the call is over: %v", w.starts("a"), len(a.Received()), before, c.over())
		}
		if _, err := w.hub.CancelRequest("r", "", "", event.OriginHost); err != nil {
			t.Fatal(err)
		}
	})
}
