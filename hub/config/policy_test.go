package config

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestPolicyPrecedence(t *testing.T) {
	tests := []struct {
		name, approvals, tool string
		want                  Policy
	}{
		{"nothing said", ``, "read", Ask},
		{"exact", `"approvals": {"read": "allow"}`, "read", Allow},
		{"of another tool", `"approvals": {"read": "allow"}`, "Read", Ask},
		{"list", `"alwaysAllow": ["read"]`, "read", Allow},
		{"list of all", `"alwaysAllow": ["*"]`, "read", Allow},
		{"autoApprove", `"autoApprove": ["read_*"]`, "read_file", Allow},
		{"explicit wins over list", `"alwaysAllow": ["read"], "approvals": {"read": "ask"}`, "read", Ask},
		{"explicit deny wins over list", `"approvals": {"read": "deny"}, "alwaysAllow": ["read"]`, "read", Deny},
		{"exact wins over longer pattern", `"approvals": {"read": "ask", "read*****": "allow"}`, "read", Ask},
		{"exact wins over stricter pattern", `"approvals": {"read": "allow", "*": "ask"}`, "read", Allow},
		{"longest pattern", `"approvals": {"*": "ask", "read_*": "allow"}`, "read_file", Allow},
		{"longest pattern, other way", `"approvals": {"*": "allow", "read_*": "ask"}`, "read_file", Ask},
		{"equally long: stricter", `"approvals": {"re*": "allow", "*ad": "ask"}`, "read", Ask},
		{"deny pattern beats exact allow", `"approvals": {"*": "deny", "read": "allow"}`, "read", Deny},
		{"short deny beats long allow", `"approvals": {"r*": "deny", "read_fil?": "allow"}`, "read_file", Deny},
		{"deny that does not match", `"approvals": {"write*": "deny", "read*": "allow"}`, "read", Allow},
		{"a tool with a star in its name", `"approvals": {"a*": "allow"}`, "a*", Allow},
		{"slash is not special", `"approvals": {"fs*": "allow"}`, "fs/read/file", Allow},
		{"no classes", `"approvals": {"[a-z]*": "allow"}`, "read", Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			comma := ""
			if tt.approvals != "" {
				comma = ", "
			}
			s, problems := load(t, `{"servers": {"s": {"command": "c"`+comma+tt.approvals+`}}}`)
			if len(problems) != 0 {
				t.Fatal(problems)
			}
			for range 20 { // map order must not matter
				if got := s.Policy(tt.tool); got != tt.want {
					t.Fatalf("got %s, want %s", got, tt.want)
				}
			}
		})
	}
}

// Match against the same pattern as a regular expression.
func TestMatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(letters string, most int) string {
		var b strings.Builder
		for range rng.IntN(most + 1) {
			r := []rune(letters)
			b.WriteRune(r[rng.IntN(len(r))])
		}
		return b.String()
	}
	matched := 0
	for range 20000 {
		pattern, name := word("aé*?.", 6), word("aé.", 6)
		re := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
		want := regexp.MustCompile(`(?s)^` + re + `$`).MatchString(name)
		if want {
			matched++
		}
		if got := Match(pattern, name); got != want {
			t.Fatalf("Match(%q, %q) = %v", pattern, name, got)
		}
	}
	if matched < 1000 {
		t.Errorf("only %d pairs matched: the test shows little", matched)
	}
	// Would take for ever if every star were tried anew.
	if Match(strings.Repeat("*a", 40)+"b", strings.Repeat("a", 2000)) {
		t.Error("matched")
	}
}

// A filter is within another one only if that shows all that it shows, which is asked here of every name of up to three
// letters of two.
func TestFilterWithin(t *testing.T) {
	lists := [][]string{nil, {}, {"a"}, {"b", "a"}, {"a*"}, {"a?"}, {"*"}, {"?"}, {"ab", "a*"}, {"*b"}}
	var filters []ToolFilter
	for _, only := range lists {
		for _, hidden := range lists {
			filters = append(filters, ToolFilter{Only: only, Hidden: hidden})
		}
	}
	names := []string{""}
	for i := 0; len(names) < 15; i++ {
		names = append(names, names[i]+"a", names[i]+"b")
	}
	for _, f := range filters {
		if !f.Within(f) || !f.Within(ToolFilter{}) {
			t.Errorf("%v is not within itself, or not within all", f)
		}
		for _, of := range filters {
			for _, name := range names {
				if f.Within(of) && f.Visible(name) && !of.Visible(name) {
					t.Errorf("%v is within %v, which does not show %q", f, of, name)
				}
			}
		}
	}
}
