package toolset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/bounds"
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

func found(x *Index, query string, limit int) string {
	var names []string
	for _, hit := range x.Search(query, limit, nil) {
		names = append(names, hit.Server+"/"+hit.Name)
	}
	return strings.Join(names, " ")
}

func TestSearch(t *testing.T) {
	var x Index
	if got := found(&x, "issue", 3); got != "" {
		t.Error(got)
	}
	put(&x, "github", 1, []Searched{
		{Name: "create_issue", Description: "Open a new issue in a repository"},
		{Name: "list_issues", Description: "List issues of a repository"},
		{Name: "get_file", Description: "Read a file", InputSchema: json.RawMessage(`{"properties":{"branchName":{}}}`)},
		{Name: "star", Description: "Mentions an issue once among many other words that make it long, such as these here"},
	})
	put(&x, "files", 1, []Searched{
		{Name: "readFile", Description: "Read a file from the disk"},
		{Name: "list", Description: "Names in a folder"},
	})
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
		got := found(&x, query, 5)
		if query == "list_issues" {
			got, _, _ = strings.Cut(got, " ")
		}
		if got != want {
			t.Errorf("%q finds %s, want %s", query, got, want)
		}
	}
	if got := found(&x, "issue", 1); got == "" || strings.Contains(got, " ") {
		t.Error(got)
	}
	if got := x.Search("issue", 9, func(id Identity) bool { return id.Name == "star" }); len(got) != 1 {
		t.Error(got)
	}
	put(&x, "files", 1, nil) // the same version
	if got := found(&x, "folder", 5); got != "files/list" {
		t.Error(got)
	}
	put(&x, "files", 2, []Searched{{Name: "copy", Description: "Copies a folder"}})
	if got := found(&x, "folder", 5); got != "files/copy" {
		t.Error(got)
	}
	x.Retain(func(server string) bool { return server != "files" })
	if got := found(&x, "folder", 5); got != "" {
		t.Error(got)
	}
}

// Equal scores come in the order of server and name, whatever the order of the lists.
func TestSearchHasOneOrder(t *testing.T) {
	var want string
	for seed := range uint64(20) {
		var x Index
		r := rand.New(rand.NewPCG(seed, 1))
		for _, s := range r.Perm(7) {
			var tools []Searched
			for _, n := range r.Perm(9) {
				tools = append(tools, Searched{Name: fmt.Sprintf("tool_%d", n), Description: "does the same thing"})
			}
			put(&x, fmt.Sprint("s", s), seed, tools)
		}
		got := found(&x, "the same thing does tool", 20)
		if want == "" {
			want = got
		}
		if got != want || !strings.HasPrefix(got, "s0/tool_0 s0/tool_1 ") {
			t.Fatalf("%s, before %s", got, want)
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	var x Index
	long := strings.Repeat("word ", bounds.SearchedBytes)
	var different strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&different, "w%d ", i)
	}
	put(&x, "s", 1, []Searched{{Name: "a", Description: long + "hidden"}, {Name: "b", Description: different.String()}})
	if got := found(&x, "hidden", 1); got != "" {
		t.Error(got)
	}
	if n := len(x.servers["s"].words); n > 2*bounds.SearchedWords {
		t.Errorf("%d words", n)
	}
	if got := found(&x, long+"a", 1); got != "s/a" {
		t.Error(got)
	}
	put(&x, "many", 1, make([]Searched, bounds.SearchTools+1))
	if n := len(x.servers["many"].tools); n != bounds.SearchTools {
		t.Errorf("%d tools", n)
	}
}

func TestSearchWhileListsChange(t *testing.T) {
	var x Index
	var work sync.WaitGroup
	for server := range 4 {
		work.Go(func() {
			for version := range uint64(50) {
				put(&x, fmt.Sprint(server), version, []Searched{{Name: "read_file"}})
				if got := found(&x, "file", 9); !strings.Contains(got, fmt.Sprint(server, "/read_file")) {
					t.Errorf("%d: %s", server, got)
				}
			}
		})
	}
	work.Wait()
}

// manyTools puts 1,000 tools into x that are like those in use: 456 to 950 tokens each.
func manyTools(x *Index) {
	verbs := []string{"create", "list", "get", "update", "delete", "search", "merge", "read", "write", "run"}
	things := []string{"issue", "repository", "pull_request", "file", "branch", "table", "message", "channel", "page", "event"}
	for s := range 20 {
		var tools []Searched
		for i := range 50 {
			verb, thing := verbs[i%10], things[(i/10+s)%10]
			tools = append(tools, Searched{
				Name: fmt.Sprintf("%s_%s_%d", verb, thing, i),
				Description: strings.Repeat(
					fmt.Sprintf("Use this to %s a %s of the user's account, number %d. ", verb, thing, i), 12) +
					strings.Join(things, " "),
				InputSchema: json.RawMessage(`{"properties":{"owner":{},"repo":{},"pageSize":{},"query":{},"since":{}}}`),
			})
		}
		put(x, fmt.Sprint("server", s), 1, tools)
	}
}

func BenchmarkSearch(b *testing.B) {
	var x Index
	manyTools(&x)
	for b.Loop() {
		x.Search("how do I create a new issue in the repository of the user", 10, nil)
	}
}

func BenchmarkIndex(b *testing.B) {
	for b.Loop() {
		var x Index
		manyTools(&x)
	}
}

func put(x *Index, server string, version uint64, tools []Searched) {
	x.Put(server, version, func() []Searched { return tools })
}
