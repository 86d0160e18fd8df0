package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

// A search gives what has all its words, the first ones when there are too many, and the number of all that match.
func TestSearchOfAList(t *testing.T) {
	list := []event.ResourceInfo{
		{URI: "file:///a.txt", Name: "Alpha", Definition: "{}"},
		{URI: "file:///b.txt", Description: "ALPHABET", Definition: "{}"},
		{URI: "db://alpha", MIMEType: "text/plain", Definition: strings.Repeat("x", 900_000)},
		{URI: "db://x", Title: strings.Repeat("y", 5000) + "alpha", Definition: "{}"},
	}
	for _, c := range []struct {
		search  Search
		want    string
		matched int
	}{
		{Search{}, "[file:///a.txt file:///b.txt db://alpha db://x]", 4},
		{Search{Query: "alpha"}, "[file:///a.txt file:///b.txt db://alpha]", 3},
		{Search{Query: " FILE  alpha "}, "[file:///a.txt file:///b.txt]", 2},
		{Search{Query: "plain"}, "[db://alpha]", 1},
		{Search{Query: "nowhere"}, "[]", 0},
		{Search{Limit: 1}, "[file:///a.txt]", 4},
		{Search{Limit: 9}, "[file:///a.txt file:///b.txt]", 4}, // the third is too long
		{Search{Query: "db alpha", Limit: 9}, "[db://alpha]", 1},
	} {
		some, matched := Select(c.search, list, ResourceTexts)
		uris := []string{}
		for _, r := range some {
			uris = append(uris, r.URI)
		}
		if diff := cmp.Diff(c.want, fmt.Sprint(uris)); diff != "" || matched != c.matched {
			t.Errorf("%+v: %d matched, want %d (-want +got):\n%s", c.search, matched, c.matched, diff)
		}
	}
	if some, n := Select(Search{Query: "x"}, []event.McpPromptInfo{{Name: "x"}, {Title: "X"}, {Name: "y"}},
		PromptTexts); len(some) != 2 || n != 2 {
		t.Errorf("%v, %d", some, n)
	}
	if some, n := Select(Search{Query: "{x}"}, []event.ResourceTemplateInfo{{URITemplate: "a:{X}"}, {}},
		TemplateTexts); len(some) != 1 || n != 1 {
		t.Errorf("%v, %d", some, n)
	}
}
