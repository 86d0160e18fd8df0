package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
)

// TestTemplatesOfOneServerCostOthersNothing (finding G5): a server whose templates take long to match does not get the
// URI, and the template of another server does. Each template is compiled once. A client that has given up is waited
// for no longer.
func TestTemplatesOfOneServerCostOthersNothing(t *testing.T) {
	var all []event.ResourceTemplateInfo
	for i := range 200 {
		text := fmt.Sprintf("good:{+v%d}", i) + strings.Repeat("{+v}", 50) + "!"
		all = append(all, event.ResourceTemplateInfo{Server: "hostile", URITemplate: text, Definition: `{}`})
	}
	all = append(all, event.ResourceTemplateInfo{Server: "hostile", URITemplate: "good:{", Definition: `{}`},
		event.ResourceTemplateInfo{Server: "good", URITemplate: "good:{+path}", Definition: `{}`})
	templates := templatesOf(all, &listing{})
	uri := "good:" + strings.Repeat("a", 20_000)
	if at, err := resolve(t.Context(), uri, &listing{}, templates); err != nil || at.server != "good" {
		t.Errorf("it is of %q: %v", at.server, err)
	}
	for text, compiled := range templatesOf(all, templates).compiled {
		if compiled != templates.compiled[text] {
			t.Errorf("%.20s is compiled again", text)
		}
	}
	gone := errors.New("the client is gone")
	ctx, end := context.WithCancelCause(t.Context())
	end(gone)
	if _, err := resolve(ctx, uri, &listing{}, templates); !errors.Is(err, gone) {
		t.Errorf("for a client that is gone: %v", err)
	}
}
