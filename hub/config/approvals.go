package config

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
