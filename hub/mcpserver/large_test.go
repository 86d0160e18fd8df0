package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// TestLargeRequestsAreBounded: the params of all open requests have one bound, and one client, of either era, may use
// half of it. Small params always pass, a request that is the only one passes whatever its size, and a request that has
// ended no longer counts.
func TestLargeRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{OpenBytes: 1 << 20})
		long := `,"arguments":{"long":"` + strings.Repeat("x", 200<<10) + `"}`
		legacy := map[string]func(name, more string) string{}
		for _, client := range []string{"one", "two"} {
			session, next := d.initialize(t, "2025-11-25", client), 0
			legacy[client] = func(name, more string) string {
				next++
				_, text := d.post(t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q%s}}`,
					next, name, more), "Mcp-Session-Id", session)
				return text
			}
		}
		modern := func(name, more string) string { return d.modern(t, name, "modern", more) }
		refused := func(who, got string, want bool) {
			t.Helper()
			if is := strings.Contains(got, "-32000") && strings.Contains(got, "too large"); is != want {
				t.Errorf("%s: refused %v: %.200s", who, is, got)
			}
		}
		for range 2 {
			go legacy["one"]("wait", long)
			go modern("wait", long)
			synctest.Wait()
		}
		refused("a third of one legacy client", legacy["one"]("echo", long), true)
		refused("a third of one modern client", modern("echo", long), true)
		refused("a small one", legacy["one"]("echo", `,"arguments":{}`), false)
		refused("another client", legacy["two"]("echo", long), false)
		go legacy["two"]("wait", long)
		synctest.Wait()
		refused("more than there is room for", legacy["two"]("echo", long), true)
		d.server.Close(nil)
		synctest.Wait()

		d = newDoor(mcpserver.Bounds{OpenBytes: 1 << 20})
		session := d.initialize(t, "2025-11-25")
		for range 3 {
			_, got := d.post(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"`+
				strings.Replace(long, "x", strings.Repeat("x", 2<<20), 1)+`}}`, "Mcp-Session-Id", session)
			refused("one that is alone", got, false)
		}
		d.server.Close(nil)
	})
}

// What may be used is the bound itself and not a byte more, both of one client's half and of all.
func TestBoundOfLargeRequestsIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const part = 100 << 10
		d := newDoor(mcpserver.Bounds{OpenBytes: 4 * part})
		defer d.server.Close(nil)
		call := func(session, tool string, size int) string {
			params := `{"name":"` + tool + `","arguments":{"long":"`
			params += strings.Repeat("x", size-len(params)-len(`"}}`)) + `"}}`
			_, text := d.post(t.Context(), `{"jsonrpc":"2.0","id":"`+tool+`","method":"tools/call","params":`+params+`}`,
				"Mcp-Session-Id", session)
			return text
		}
		begin := func(client string) (session string) {
			session = d.initialize(t, "2025-11-25", client)
			go call(session, "wait", part)
			synctest.Wait()
			return session
		}
		exact := func(what, session string) {
			t.Helper()
			if got := call(session, "echo", part); strings.Contains(got, "-32000") {
				t.Errorf("%s: %.200s", what, got)
			}
			if got := call(session, "echo", part+1); !strings.Contains(got, "-32000") {
				t.Errorf("a byte more than %s: %.200s", what, got)
			}
		}
		begin("one")
		exact("half for one client, of two sessions", d.initialize(t, "2025-11-25", "one"))
		begin("two")
		begin("three")
		exact("all", d.initialize(t, "2025-11-25", "four"))
	})
}

// The subscriptions of a session are bounded. One that it has already takes no further place, and one that it ends
// makes room.
func TestSubscriptionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{Subscriptions: 2})
		defer d.server.Close(nil)
		session := d.initialize(t, "2025-11-25")
		for i, step := range []struct {
			method, uri string
			refused     bool
		}{{"subscribe", "a", false}, {"subscribe", "b", false}, {"subscribe", "c", true}, {"subscribe", "a", false},
			{"unsubscribe", "b", false}, {"subscribe", "c", false}, {"subscribe", "b", true}} {
			_, got := d.post(t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/%s","params":{"uri":%q}}`, i,
				step.method, step.uri), "Mcp-Session-Id", session)
			if strings.Contains(got, "-32000") != step.refused {
				t.Errorf("step %d, %s %s: %s", i, step.method, step.uri, got)
			}
		}
	})
}
