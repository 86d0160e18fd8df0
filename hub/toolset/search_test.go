package toolset

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"create_issue":       "create issue create_issue",
		"listRepoIssues":     "list repo issue listrepoissues",
		"HTTPServer.get-url": "http server get url httpserver.get-url",
		"Reads a file, now!": "read a file now",
		"queries status bus": "query status bus",
		"page #42 (v2)":      "page 42 v2",
		"größe Straße":       "größe straße",
		"日本語":                "日 本 語 日本語",
		"__a__":              "a",
		"":                   "",
		"\xff\xfe":           "",
	} {
		var got []string
		words(text, func(word string) bool {
			got = append(got, word)
			return true
		})
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// lists are the tools of servers, and the index that searches them.
type lists struct {
	index
	of map[string][]event.ToolInfo
}

func (l *lists) put(server string, tools ...event.ToolInfo) {
	if l.of == nil {
		l.of = map[string][]event.ToolInfo{}
	}
	for i := range tools {
		tools[i].Server = server
	}
	l.of[server] = tools
}

func (l *lists) found(query string) string {
	var names []string
	for _, hit := range l.search(query, slices.Concat(slices.Collect(maps.Values(l.of))...)) {
		names = append(names, hit.tool.Server+"/"+hit.tool.Name)
	}
	return strings.Join(names, " ")
}

func TestSearch(t *testing.T) {
	var x lists
	if got := x.found("issue"); got != "" {
		t.Error(got)
	}
	x.put("github",
		event.ToolInfo{Name: "create_issue", Description: "Open a new issue in a repository"},
		event.ToolInfo{Name: "list_issues", Description: "List issues of a repository"},
		event.ToolInfo{Name: "get_file", Description: "Read a file",
			Definition: `{"inputSchema":{"properties":{"branchName":{}}}}`},
		event.ToolInfo{Name: "star",
			Description: "Mentions an issue once among many other words that make it long, such as these here"},
	)
	x.put("files",
		event.ToolInfo{Name: "readFile", Description: "Read a file from the disk"},
		event.ToolInfo{Name: "list", Description: "Names in a folder"},
	)
	for query, want := range map[string]string{
		"create issue":   "github/create_issue github/list_issues github/star",
		"ISSUES":         "github/list_issues github/create_issue github/star",
		"list_issues":    "github/list_issues",
		"branch":         "github/get_file",
		"read file":      "files/readFile github/get_file",
		"folder":         "files/list",
		"nothing at all": "",
		"":               "",
	} {
		got := x.found(query)
		if query == "list_issues" {
			got, _, _ = strings.Cut(got, " ")
		}
		if got != want {
			t.Errorf("%q finds %s, want %s", query, got, want)
		}
	}
	before := x.parts["github"]
	x.put("files", event.ToolInfo{Name: "copy", Description: "Copies a folder"})
	if got := x.found("folder"); got != "files/copy" {
		t.Error(got)
	}
	if x.parts["github"] != before {
		t.Error("the part of a server whose list is the same was made anew")
	}
	delete(x.of, "files")
	if got := x.found("folder"); got != "" || len(x.parts) != 1 {
		t.Error(got)
	}
}

// Equal scores come in the order of server and name, whatever the order of the lists.
func TestSearchHasOneOrder(t *testing.T) {
	var want string
	for seed := range uint64(20) {
		var x lists
		r := rand.New(rand.NewPCG(seed, 1))
		for _, s := range r.Perm(7) {
			var tools []event.ToolInfo
			for _, n := range r.Perm(9) {
				tools = append(tools, event.ToolInfo{Name: fmt.Sprintf("tool_%d", n), Description: "does the same thing"})
			}
			x.put(fmt.Sprint("s", s), tools...)
		}
		got := x.found("the same thing does tool")
		if want == "" {
			want = got
		}
		if got != want || !strings.HasPrefix(got, "s0/tool_0 s0/tool_1 ") {
			t.Fatalf("%s, before %s", got, want)
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	var x lists
	long := strings.Repeat("word ", bounds.SearchedBytes)
	var different strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&different, "w%d ", i)
	}
	x.put("s", event.ToolInfo{Name: "a", Description: long + "hidden"},
		event.ToolInfo{Name: "b", Description: different.String()})
	if got := x.found("hidden"); got != "" {
		t.Error(got)
	}
	if n := len(x.parts["s"].words); n > 2*bounds.SearchedWords {
		t.Errorf("%d words", n)
	}
	if got := x.found(long + "a"); got != "s/a" {
		t.Error(got)
	}
	x.put("many", make([]event.ToolInfo, bounds.SearchTools+1)...)
	x.found("a")
	if n := len(x.parts["many"].lengths); n != bounds.SearchTools {
		t.Errorf("%d tools", n)
	}
}

func TestSearchWhileListsChange(t *testing.T) {
	var x index
	var work sync.WaitGroup
	for server := range 4 {
		work.Go(func() {
			for version := range 50 {
				tool := event.ToolInfo{Server: fmt.Sprint(server), Name: "read_file", Hash: fmt.Sprint(version)}
				if got := x.search("file", []event.ToolInfo{tool}); len(got) != 1 || got[0].tool.Server != tool.Server {
					t.Errorf("%d: %v", server, got)
				}
			}
		})
	}
	work.Wait()
}

// manyTools puts 1,000 tools into x that are like those in use: 456 to 950 tokens each.
func manyTools(x *lists) {
	verbs := []string{"create", "list", "get", "update", "delete", "search", "merge", "read", "write", "run"}
	things := []string{"issue", "repository", "pull_request", "file", "branch", "table", "message", "channel", "page", "event"}
	for s := range 20 {
		var tools []event.ToolInfo
		for i := range 50 {
			verb, thing := verbs[i%10], things[(i/10+s)%10]
			tools = append(tools, event.ToolInfo{
				Name: fmt.Sprintf("%s_%s_%d", verb, thing, i),
				Description: strings.Repeat(
					fmt.Sprintf("Use this to %s a %s of the user's account, number %d. ", verb, thing, i), 12) +
					strings.Join(things, " "),
				Definition: `{"inputSchema":{"properties":{"owner":{},"repo":{},"pageSize":{},"query":{},"since":{}}}}`,
			})
		}
		x.put(fmt.Sprint("server", s), tools...)
	}
}

func BenchmarkSearch(b *testing.B) {
	var x lists
	manyTools(&x)
	for b.Loop() {
		x.found("how do I create a new issue in the repository of the user")
	}
}

func BenchmarkIndex(b *testing.B) {
	for b.Loop() {
		var x lists
		manyTools(&x)
		x.found("a")
	}
}
