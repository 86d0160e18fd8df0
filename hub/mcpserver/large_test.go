package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// TestLargeRequestsAreBounded: the params of open requests have a bound in all, of which one client, of either era, has
// half; small ones pass beside them, one that is alone passes whatever it is, and what has ended counts no more.
func TestLargeRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{OpenBytes: 1 << 20})
		long := `,"arguments":{"long":"` + strings.Repeat("x", 200<<10) + `"}`
		legacy := map[string]func(name, more string) string{}
		for _, client := range []string{"one", "two"} {
			session, next := d.initialize(t, "2025-11-25"), 0
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
