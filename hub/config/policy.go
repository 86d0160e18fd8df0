package config

import "strings"

// Policy says what happens before a tool is called.
type Policy string

const (
	Allow Policy = "allow" // call it
	Ask   Policy = "ask"   // ask the user first
	Deny  Policy = "deny"  // never call it
)

// strictness returns the rank of a policy, from lenient to strict.
func (p Policy) strictness() int {
	switch p {
	case Allow:
		return 0
	case Deny:
		return 2
	}
	return 1
}

// Policy returns the policy of a tool; see PolicyIn.
func (s *Server) Policy(tool string) Policy { return PolicyIn(s.Approvals, tool) }

// PolicyIn returns the policy of a tool by a server's approvals. The first of these that applies counts: any matching
// deny; the entry of exactly this name; the longest matching pattern (of two equally long ones the stricter); Ask.
func PolicyIn(approvals map[string]Policy, tool string) Policy {
	best, length := Ask, -1
	exact, named := approvals[tool]
	for pattern, p := range approvals {
		if pattern != tool && !Match(pattern, tool) {
			continue
		}
		if p == Deny {
			return Deny
		}
		if len(pattern) > length || len(pattern) == length && p.strictness() > best.strictness() {
			best, length = p, len(pattern)
		}
	}
	if named {
		return exact
	}
	return best
}

// Match reports whether a whole name matches a pattern, in which '*' matches any sequence of characters, also the empty
// one, and '?' matches exactly one character. All other characters match themselves; there are no classes, no escapes,
// and '/' is not special. The time is bounded by the product of both lengths.
func Match(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return pattern == name
	}
	p, n := []rune(pattern), []rune(name)
	i, j := 0, 0
	star, mark := -1, 0 // the last '*', and the end of what it matches so far
	for j < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i++
			j++
		case star >= 0: // let the last '*' match one more character
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
