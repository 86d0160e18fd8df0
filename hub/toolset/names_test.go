package toolset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var (
	everyProvider = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$`)
	models        = Style{Bytes: ModelName}
	gateway       = Style{Bytes: GatewayName}
)

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, test := range []struct {
		style        Style
		server, tool string
		want         string // with a # where the hash is
	}{
		{models, "github", "create_issue", "github__create_issue"},
		{models, "my-server", "read-file", "my-server__read-file"},
		{models, "github", "issues.list", "github__issues_list_#"},
		{models, "1password", "get", "_1password__get_#"},
		{models, "-x", "get", "_-x__get_#"},
		{models, "größe", "messe", "gr__e__messe_#"},
		{models, "", "get", "__get_#"},
		{models, "a", "", "a___#"},
		{models, "", "", "___#"},
		{models, "a_", "b", "a___b_#"},
		{models, "a", "_b", "a___b_#"},
		{models, "a__b", "c", "a__b__c_#"},
		{models, "a", "b__c", "a__b__c"},
		{models, "a", "list_repositories", "a__list_repositories"}, // 12 letters
		{models, "a", "b_0123abcdwxyz", "a__b_0123abcdwxyz_#"},
		{models, "a", long, "a__" + long[:63-3-13] + "_#"},
		{gateway, "a", long, "a__" + long[:46-3-13] + "_#"},
		{gateway, "a", long[:43], "a__" + long[:43]},
		{gateway, "a", long[:44], "a__" + long[:30] + "_#"},
		{Style{GatewayName, true}, "a", "issues.list/all", "issues.list/all"},
		{Style{GatewayName, true}, "a", "b_0123abcdwxyz", "b_0123abcdwxyz"},
		{Style{GatewayName, true}, "a", "white space", "white_space_#"},
		{Style{GatewayName, true}, "a", strings.Repeat(long, 2), long[:33] + "_#"},
	} {
		got := test.style.Name(Named{Identity: Identity{test.server, test.tool}})
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(test.want), "#", "[0-9][0-9a-z]{11}") + "$"
		if !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("%q, %q: %s, want %s", test.server, test.tool, got, test.want)
		}
		if !test.style.Single && (!everyProvider.MatchString(got) || len(got) > test.style.Bytes) {
			t.Errorf("%q, %q: %s is not legal", test.server, test.tool, got)
		}
	}
}

// The display name stands in the name, and the hash keeps two servers apart that are shown alike.
func TestNamesOfServersThatAreShownAlike(t *testing.T) {
	one := models.Name(Named{Identity{"file:/a#git", "log"}, "git"})
	two := models.Name(Named{Identity{"file:/b#git", "log"}, "git"})
	if one == two || !strings.HasPrefix(one, "git__log_") || !strings.HasPrefix(two, "git__log_") {
		t.Error(one, two)
	}
	if plain := models.Name(Named{Identity{"git", "log"}, "git"}); plain != "git__log" {
		t.Error(plain)
	}
}

// A server cannot take the name of another server's tool, although it chooses its tools' names: what looks like a
// hash gets one.
func TestNoPlainNameIsAnothersHashedOne(t *testing.T) {
	hashed := models.Name(Named{Identity: Identity{"x.y", "t"}})
	thief := Identity{"x_y", strings.TrimPrefix(hashed, "x_y__")}
	if stolen := models.Name(Named{Identity: thief}); stolen == hashed {
		t.Errorf("%v has the name %s", thief, stolen)
	}
}

// TestHashesAreLong (finding G9): a server that tries out names of its tools finds none that has the name of another
// one's tool: the whole length of the hash counts, in every place.
func TestHashesAreLong(t *testing.T) {
	values, seen := [hashLength]map[byte]bool{}, map[string]bool{}
	for i := range 20_000 {
		name := gateway.Name(Named{Identity: Identity{"server.x", fmt.Sprint("tool ", i)}})
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
	var all []Named
	seen := map[Identity]bool{}
	for _, server := range words {
		for _, tool := range words {
			if id := (Identity{server, tool}); !seen[id] {
				seen[id] = true
				all = append(all, Named{Identity: id})
			}
		}
	}
	table := NewTable(models, all)
	if aside := table.Aside(); len(aside) > 0 {
		t.Fatal(aside[0])
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	half := NewTable(models, all[:len(all)/2])
	for _, n := range all[:len(all)/2] {
		before, _ := table.Name(n.Identity)
		after, _ := half.Name(n.Identity)
		back, _ := half.Find(after)
		if before != after || back != n.Identity || !everyProvider.MatchString(after) {
			t.Fatalf("%q: %s, then %s, which is %q", n.Identity, before, after, back)
		}
	}
}

func TestTableSetsAside(t *testing.T) {
	single := Style{GatewayName, true}
	changed := Identity{"s", "white space"}
	name := single.Name(Named{Identity: changed})
	for _, order := range [][]Named{
		{{Identity: changed}, {Identity: Identity{"s", name}}, {Identity: Identity{"s", name}}},
		{{Identity: Identity{"s", name}}, {Identity: Identity{"s", name}}, {Identity: changed}},
	} {
		table := NewTable(single, order)
		if at, _ := table.Find(name); at.Name != name {
			t.Errorf("%s is %q", name, at)
		}
		if _, named := table.Name(changed); named || len(table.Aside()) != 2 {
			t.Errorf("%v", table.Aside())
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
	var all []Named
	for i := range 1000 {
		all = append(all, Named{Identity: Identity{fmt.Sprint("server", i%20), fmt.Sprint("tool.", i)}})
	}
	for b.Loop() {
		NewTable(models, all)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/1000-tools")
}

func FuzzNames(f *testing.F) {
	f.Add("github", "create_issue", "git.hub", "create__issue")
	f.Fuzz(func(t *testing.T, server1, tool1, server2, tool2 string) {
		a, b := Identity{server1, tool1}, Identity{server2, tool2}
		for _, style := range []Style{models, gateway} {
			one, two := style.Name(Named{Identity: a}), style.Name(Named{Identity: b})
			if !everyProvider.MatchString(one) || len(one) > style.Bytes || a != b && one == two {
				t.Errorf("%q is %s, %q is %s", a, one, b, two)
			}
		}
	})
}
