package config

import "fmt"

// patterns reads a list of tool names and patterns that need no question.
func (r *entryReader) patterns(key string, v value) []string {
	values, ok := v.array()
	if !ok {
		r.wrong(v, key, "an array of tool names")
		return nil
	}
	var out []string
	for i, e := range values {
		at := fmt.Sprintf("%s[%d]", key, i)
		switch s, ok := e.str(); {
		case !ok:
			r.wrong(e, at, "a string")
		case s == "":
			r.fail(e.at(), at, "the name of a tool must not be empty")
		default:
			out = append(out, s)
		}
	}
	return out
}

func (r *entryReader) approvals(key string, v value) map[string]Policy {
	members, ok := v.object()
	if !ok {
		r.wrong(v, key, "an object of tool names")
		return nil
	}
	out := make(map[string]Policy, len(members))
	for _, m := range r.distinct(r.doc, members, r.server, key) {
		at := path(key, m.name)
		if m.name == "" {
			r.fail(m.at, at, "the name of a tool must not be empty")
			continue
		}
		s, ok := m.value.str()
		switch p := Policy(s); {
		case !ok:
			r.wrong(m.value, at, `"allow", "ask" or "deny"`)
		case p == Allow || p == Ask || p == Deny:
			out[m.name] = p
		default:
			r.fail(m.value.at(), at, `must be "allow", "ask" or "deny", is %s`, quote(s))
		}
	}
	return out
}

// merge puts the lists and the explicit policies together; an explicit one wins
// over a list that names the same pattern.
func merge(allowed []string, explicit map[string]Policy) map[string]Policy {
	if len(allowed)+len(explicit) == 0 {
		return nil
	}
	out := make(map[string]Policy, len(allowed)+len(explicit))
	for _, pattern := range allowed {
		out[pattern] = Allow
	}
	for pattern, p := range explicit {
		out[pattern] = p
	}
	return out
}
