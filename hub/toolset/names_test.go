package toolset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
)

var everyProvider = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$`)

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, test := range []struct {
		longest      int
		server, tool string
		want         string // with a # where the hash is
	}{
		{ModelName, "github", "create_issue", "github__create_issue"},
		{ModelName, "my-server", "read-file", "my-server__read-file"},
		{ModelName, "github", "issues.list", "github__issues_list_#"},
		{ModelName, "1password", "get", "_1password__get_#"},
		{ModelName, "-x", "get", "_-x__get_#"},
		{ModelName, "größe", "messe", "gr__e__messe_#"},
		{ModelName, "", "get", "__get_#"},
		{ModelName, "a", "", "a___#"},
		{ModelName, "", "", "___#"},
		{ModelName, "a_", "b", "a___b_#"},
		{ModelName, "a", "_b", "a___b_#"},
		{ModelName, "a__b", "c", "a__b__c_#"},
		{ModelName, "a", "b__c", "a__b__c"},
		{ModelName, "a", "list_repositories", "a__list_repositories"}, // 12 letters
		{ModelName, "a", "b_0123abcdwxyz", "a__b_0123abcdwxyz_#"},
		{ModelName, "a", long, "a__" + long[:63-3-13] + "_#"},
		{GatewayName, "a", long, "a__" + long[:46-3-13] + "_#"},
		{GatewayName, "a", long[:43], "a__" + long[:43]},
		{GatewayName, "a", long[:44], "a__" + long[:30] + "_#"},
	} {
		got := Name(Identity{test.server, test.tool}, test.longest)
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(test.want), "#", "[0-9][0-9a-z]{11}") + "$"
		if !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("%q, %q: %s, want %s", test.server, test.tool, got, test.want)
		}
		if !everyProvider.MatchString(got) || len(got) > test.longest {
			t.Errorf("%q, %q: %s is not legal", test.server, test.tool, got)
		}
	}
}

// A server cannot take the name of another server's tool, although it chooses its tools' names: what looks like a
// hash gets one.
func TestNoPlainNameIsAnothersHashedOne(t *testing.T) {
	hashed := Name(Identity{"x.y", "t"}, ModelName)
	thief := Identity{"x_y", strings.TrimPrefix(hashed, "x_y__")}
	if stolen := Name(thief, ModelName); stolen == hashed {
		t.Errorf("%v has the name %s", thief, stolen)
	}
}

// TestHashesAreLong (finding G9): a server that tries out names of its tools finds none that has the name of another
// one's tool: the whole length of the hash counts, in every place.
func TestHashesAreLong(t *testing.T) {
	values, seen := [hashLength]map[byte]bool{}, map[string]bool{}
	for i := range 20_000 {
		name := Name(Identity{"server.x", fmt.Sprint("tool ", i)}, GatewayName)
		hash := name[len(name)-hashLength:]
		seen[hash] = true
		for at := range values {
			if values[at] == nil {
				values[at] = map[byte]bool{}
			}
			values[at][hash[at]] = true
		}
	}
	different := math.Log2(float64(len(values[0])))
	for _, v := range values[1:] {
		different += math.Log2(float64(len(v)))
	}
	if different < 60 || len(seen) != 20_000 {
		t.Errorf("the hash has %.1f bits, %d of 20,000 differ", different, len(seen))
	}
}

// All pairs of short words over an alphabet of what could be confused have names of their own, which stay when half
// of the pairs go.
func TestNamesAreDistinctAndStable(t *testing.T) {
	var words []string
	for _, a := range []string{"", "a", "_", "-", ".", "0"} {
		for _, b := range []string{"", "a", "_", "__", "é"} {
			for _, c := range []string{"", "b", "_", " "} {
				words = append(words, a+b+c)
			}
		}
	}
	var all []event.ToolInfo
	seen := map[Identity]bool{}
	for _, server := range words {
		for _, tool := range words {
			if id := (Identity{server, tool}); !seen[id] {
				seen[id] = true
				all = append(all, event.ToolInfo{Server: server, Name: tool})
			}
		}
	}
	table := newTable(all)
	if len(table.aside) > 0 {
		t.Fatal(table.aside[0])
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	half := newTable(all[:len(all)/2])
	for _, n := range all[:len(all)/2] {
		before, after := table.names[identity(n)], half.names[identity(n)]
		if back := half.from[after]; before != after || back != identity(n) || !everyProvider.MatchString(after) {
			t.Fatalf("%q: %s, then %s, which is %q", identity(n), before, after, back)
		}
	}
}

func TestTableSetsAside(t *testing.T) {
	first, second := event.ToolInfo{Server: "s", Name: "a"}, event.ToolInfo{Server: "s", Name: "white space"}
	for _, order := range [][]event.ToolInfo{{first, second, second}, {second, second, first}} {
		table := newTable(order)
		if len(table.aside) != 1 || table.aside[0].Identity != identity(second) || len(table.names) != 2 {
			t.Errorf("%v", table)
		}
	}
}

func TestTokens(t *testing.T) {
	for bytes := range 10_000 {
		want := (bytes*10 + 31) / 32
		if got := Tokens(bytes); got != want {
			t.Fatalf("%d bytes: %d, want %d", bytes, got, want)
		}
	}
	for tokens := range 10_000 {
		if n := BytesFor(tokens); Tokens(n) > tokens || Tokens(n+1) <= tokens {
			t.Fatalf("%d tokens: %d bytes", tokens, n)
		}
	}
}

func BenchmarkNames(b *testing.B) {
	var all []event.ToolInfo
	for i := range 1000 {
		all = append(all, event.ToolInfo{Server: fmt.Sprint("server", i%20), Name: fmt.Sprint("tool.", i)})
	}
	for b.Loop() {
		newTable(all)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/1000-tools")
}

func FuzzNames(f *testing.F) {
	f.Add("github", "create_issue", "git.hub", "create__issue")
	f.Fuzz(func(t *testing.T, server1, tool1, server2, tool2 string) {
		a, b := Identity{server1, tool1}, Identity{server2, tool2}
		for _, longest := range []int{ModelName, GatewayName} {
			one, two := Name(a, longest), Name(b, longest)
			if !everyProvider.MatchString(one) || len(one) > longest || a != b && one == two {
				t.Errorf("%q is %s, %q is %s", a, one, b, two)
			}
		}
	})
}
