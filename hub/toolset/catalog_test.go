package toolset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// tools is a hub whose tools a test sets.
type tools struct {
	mu  sync.Mutex
	all []event.ToolInfo
}

func (h *tools) KnownTools(context.Context, string) ([]event.ToolInfo, map[string]*event.Error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]event.ToolInfo(nil), h.all...), nil, nil
}

func (h *tools) Profiles() []config.Profile {
	return []config.Profile{{Name: "files alone", Servers: []string{"files"}},
		{Name: "reading", Tools: map[string][]string{"files": {"read*"}, "git": {}}}}
}

func (h *tools) set(all ...event.ToolInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = all
}

// tool is a tool whose definition ends with more.
func tool(server, name, description, more string) event.ToolInfo {
	return event.ToolInfo{Server: server, Name: name, Description: description, Policy: event.PolicyAsk, Hash: name + more,
		Definition: fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}%s}`, name, description, more)}
}

func catalog(t *testing.T) (*tools, *Catalog) {
	t.Helper()
	h := &tools{}
	c := NewCatalog(h, t.TempDir(), nil)
	t.Cleanup(c.Close)
	denied := tool("files", "erase", "Erases a disk", "")
	denied.Policy = event.PolicyDeny
	panel := tool("files", "panel", "Draws", `,"_meta":{"ui":{"visibility":["app"]}}`)
	panel.HiddenFromModels = true
	h.set(
		tool("git", "log", "Shows who changed files", `,"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":1}`),
		tool("files", "write", "Writes a file", ""),
		tool("files", "read file", strings.Repeat("Reads a file. ", 100), ""),
		tool("files", "write", "Again", ""),
		panel,
		tool("files", "both", "Draws for both", `,"_meta":{"ui":{"visibility":["app","model"]}}`),
		event.ToolInfo{Server: "git", Name: "odd", Definition: `{"name":"odd","inputSchema":[]}`},
		denied)
	return h, c
}

func TestList(t *testing.T) {
	_, c := catalog(t)
	listed, aside, tokens, err := c.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	sum := 0
	for _, l := range listed {
		names = append(names, l.ModelName)
		sum += l.Tokens
		if len(l.Description) > 1024 {
			t.Errorf("the description of %s has %d bytes", l.Name, len(l.Description))
		}
	}
	want := []string{"files__both", names[1], "files__write", "git__log"}
	if diff := cmp.Diff(want, names); diff != "" || !strings.HasPrefix(names[1], "files__read_file_") {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if sum != tokens || sum == 0 {
		t.Errorf("%d tokens, in all %d", sum, tokens)
	}
	hints := listed[3].Hints
	if hints.ReadOnly == nil || !*hints.ReadOnly || hints.Destructive == nil || *hints.Destructive ||
		hints.Idempotent != nil || hints.OpenWorld != nil {
		t.Errorf("hints of git's log: %+v", hints)
	}
	wantAside := []Aside{{Identity: Identity{Server: "files", Name: "write"}, Reason: "its server lists it twice"},
		{Identity: Identity{Server: "git", Name: "odd"}, Reason: "its schema is no JSON object"}}
	if diff := cmp.Diff(wantAside, aside); diff != "" {
		t.Errorf("aside (-want +got):\n%s", diff)
	}
}

func TestListOfProfiles(t *testing.T) {
	_, c := catalog(t)
	for profile, want := range map[string][]string{
		"files alone": {"files both", "files read file", "files write"},
		"reading":     {"files read file"},
	} {
		listed, aside, _, err := c.List(t.Context(), profile)
		var got []string
		for _, l := range listed {
			got = append(got, l.Server+" "+l.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", profile, diff, err)
		}
		for _, a := range aside {
			if a.Server == "git" {
				t.Errorf("%s has set aside %v, which is not in it", profile, a)
			}
		}
	}
	e := (*event.Error)(nil)
	if _, _, _, err := c.List(t.Context(), "readin"); !errors.As(err, &e) ||
		e.Reason != event.ReasonProfileNotFound || !strings.Contains(e.Message, `"reading"`) {
		t.Errorf("an unknown profile: %v", err)
	}
}

// A name that was once given is found, also when its tool has gone and others have come since; an unknown one gets a
// hint.
func TestFind(t *testing.T) {
	h, c := catalog(t)
	if id, err := c.Find(t.Context(), "git__log"); err != nil || id != (Identity{Server: "git", Name: "log"}) {
		t.Errorf("found %v, %v", id, err)
	}
	h.set(tool("web", "fetch", "", ""))
	for _, want := range []Identity{{Server: "git", Name: "log"}, {Server: "web", Name: "fetch"}} {
		name := want.Server + "__" + want.Name
		if id, err := c.Find(t.Context(), name); err != nil || id != want {
			t.Errorf("after other tools have come, %s is %v, %v; want %v", name, id, err, want)
		}
	}
	e := (*event.Error)(nil)
	if _, err := c.Find(t.Context(), "web__fetsh"); !errors.As(err, &e) || e.Reason != event.ReasonToolNotFound ||
		!strings.Contains(e.Message, "web__fetch") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestCatalogSearch(t *testing.T) {
	h, c := catalog(t)
	search := func(query, profile string, limit int) (got []string) {
		t.Helper()
		found, err := c.Search(t.Context(), query, limit, profile)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			got = append(got, f.Server+" "+f.Name)
		}
		return got
	}
	if got := search("write file", "", 1); !cmp.Equal(got, []string{"files write"}) {
		t.Errorf("found %v", got)
	}
	if got := search("erase disk draws", "", 0); !cmp.Equal(got, []string{"files both"}) {
		t.Errorf("what models may not see is found: %v", got)
	}
	if got := search("who changed files", "files alone", 0); len(got) == 0 || strings.Contains(strings.Join(got, ","), "git") {
		t.Errorf("found in a profile: %v", got)
	}
	h.set(tool("files", "write", "Writes a poem", ""))
	if got := search("log", "", 0); got != nil {
		t.Errorf("a server that has gone is found: %v", got)
	}
	if got := search("poem", "", 0); !cmp.Equal(got, []string{"files write"}) {
		t.Errorf("a list that has changed: %v", got)
	}
}

// TestConcurrentCatalog: lists change while they are read.
func TestConcurrentCatalog(t *testing.T) {
	h, c := catalog(t)
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for n := range 20 {
				switch i % 4 {
				case 0:
					h.set(tool("files", fmt.Sprint("tool", n), "one", ""), tool("git", "log", "two", ""))
				case 1:
					_, _ = c.Find(t.Context(), fmt.Sprint("files__tool", n))
				case 2:
					_, _ = c.Search(t.Context(), "one tool", 3, "")
				default:
					_, _, _, _ = c.List(t.Context(), "")
				}
			}
		})
	}
	work.Wait()
}
