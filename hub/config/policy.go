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

// names reads a list of tool names and patterns.
func (r *entryReader) names(k key, take func(name string, at key)) {
	for at, e := range r.elements(k.value, k.path, "an array of tool names") {
		switch s, ok := e.str(); {
		case !ok:
			r.wrong(e, at, "a string")
		case len(s) > r.limits.name:
			r.fail(e.at(), at, "is longer than %d bytes, which no name of a tool is", r.limits.name)
		case s == "":
			r.fail(e.at(), at, "the name of a tool must not be empty")
		default:
			take(s, key{member{s, e.at(), e}, at})
		}
	}
}

// approve sets the policy of a pattern.
func (r *entryReader) approve(pattern string, p Policy, from Place) {
	if r.s.Approvals == nil {
		r.s.Approvals = map[string]Policy{}
	}
	r.s.Approvals[pattern] = p
	r.s.Fields["approvals."+pattern] = from
}

// allowed reads a list of tools that are called without a question.
func (r *entryReader) allowed(k key) {
	r.names(k, func(name string, at key) { r.approve(name, Allow, r.place(at)) })
}

// approvals reads explicit policies. It is called after all lists were read, so a policy overrides a list that has the
// same pattern.
func (r *entryReader) approvals(k key) {
	for at, m := range r.members(k.value, k.path, "an object of tool names") {
		if m.name == "" {
			r.fail(m.at, at, "the name of a tool must not be empty")
			continue
		}
		if len(m.name) > r.limits.name {
			r.fail(m.at, path(k.path, "..."), "is longer than %d bytes, which no name of a tool is", r.limits.name)
			continue
		}
		s, ok := m.value.str()
		switch p := Policy(s); {
		case !ok:
			r.wrong(m.value, at, `"allow", "ask" or "deny"`)
		case p == Allow || p == Ask || p == Deny:
			r.approve(m.name, p, r.place(key{m, at}))
		default:
			r.fail(m.value.at(), at, `must be "allow", "ask" or "deny", is %s`, quote(s))
		}
	}
}

// toolsOnly reads the list of the visible tools; an empty list means none.
func (r *entryReader) toolsOnly(k key) {
	only := []string{}
	r.names(k, func(name string, _ key) { only = append(only, name) })
	r.s.Tools.Only = only
	r.mark("tools.only", k)
}

// toolsHidden reads the list of the hidden tools.
func (r *entryReader) toolsHidden(k key) {
	r.names(k, func(name string, _ key) { r.s.Tools.Hidden = append(r.s.Tools.Hidden, name) })
	r.mark("tools.hidden", k)
}
