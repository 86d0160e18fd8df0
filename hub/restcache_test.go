package hub_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Resources, templates and prompts are known before the server is up: as they were listed last, to an earlier hub too,
// byte for byte; nothing is started for that. With another launch the server counts as another one.
func TestRestIsKnownBeforeTheServerIsUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		s := fakeserver.New(fakeserver.WithCapabilities(`{"tools":{},"resources":{},"prompts":{}}`))
		s.Tool("a", func(c *fakeserver.CallContext) { c.Text("a") })
		for method, result := range map[string]string{
			"resources/list":           `{"resources":[{"uri":"x://1", "name":"one","size":1.0}]}`,
			"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"x://{id}","name":"t"}]}`,
			"prompts/list":             `{"prompts":[{"name":"hello","arguments":[{"name":"who","required":true}],"x":1E5}]}`,
		} {
			s.Handle(method, func(c *fakeserver.CallContext) { c.Result(result) })
		}
		w := newWorldIn(t, dir, serversOf("s", s), "s:"+allow)
		known := func(h *hub.Hub) *hub.Rest {
			t.Helper()
			rest, err := h.KnownRest(context.Background(), "s")
			if err != nil {
				t.Fatal(err)
			}
			return rest
		}
		if rest := known(w.hub); rest != nil || w.starts("s") != 0 {
			t.Errorf("before its first start: %+v, %d starts", rest, w.starts("s"))
		}
		if _, _, err := w.hub.Tools(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		listed := known(w.hub)
		if len(listed.Resources) != 1 || len(listed.Templates) != 1 || len(listed.Prompts) != 1 {
			t.Fatalf("listed: %+v", listed)
		}
		if listed.Ready.IsZero() {
			t.Error("Ready is zero: the connection that listed it is not known")
		}
		listed.Ready = time.Time{} // as for a hub that has it from the disk
		synctest.Wait()
		later := newWorldIn(t, dir, serversOf("s", s))
		if diff := cmp.Diff(listed, known(later.hub)); diff != "" || later.starts("s") != 0 {
			t.Errorf("of another hub, with %d starts (-listed +known):\n%s", later.starts("s"), diff)
		}
		later.load(`s:"args":["-v"]`)
		if rest := known(later.hub); rest != nil {
			t.Errorf("after a relaunch: %+v", rest)
		}
	})
}
