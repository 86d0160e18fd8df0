package grants

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config"
)

// A name that looks like another one's is told, with both of them spelled out. Finding C9.
func TestNamesThatLookAlike(t *testing.T) {
	for _, pair := range [][2]string{
		{"github", "gіthub"}, {"github", "github\u200b"}, {"paypal", "раураl"}, {"paypal", "paypa1"}, {"google", "g00gle"},
		{"jira", "jıra"}, {"a-b", "a‑b"},
		{"postgres", "ｐｏｓｔｇｒｅｓ"}, {"slack", "sláck"}, {"notion", "nοtion"},
	} {
		var servers []config.Server
		for i, name := range pair {
			servers = append(servers, config.Server{Name: name, Origin: config.Origin{File: []string{"/user", "/folder"}[i],
				Line: i + 1}})
		}
		got := LookAlikes(servers)
		if len(got) != 1 || got[0].Server != pair[1] || got[0].File != "/folder" || got[0].Line != 2 || got[0].Fatal ||
			!strings.Contains(got[0].Message, "/user") ||
			strings.ContainsFunc(got[0].Message, func(r rune) bool { return r > 126 }) {
			t.Errorf("%+q: %+v", pair, got)
		}
	}
	for _, pair := range [][2]string{{"github", "gitlab"}, {"a-b", "a_b"}, {"GitHub", "github"}, {"日本", "日木"},
		{"server-1", "server-2"}, {"a", "b"}} {
		if got := LookAlikes([]config.Server{{Name: pair[0]}, {Name: pair[1]}}); len(got) != 0 {
			t.Errorf("%q: %+v", pair, got)
		}
	}
	var many []config.Server
	for range 1000 {
		many = append(many, config.Server{Name: "l"}, config.Server{Name: "1"})
	}
	if n := len(LookAlikes(many)); n > maxAlike {
		t.Errorf("%d problems", n)
	}
}
