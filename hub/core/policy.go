package core

import (
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
)

// A managed policy says what may be launched. A list of what is allowed matches strictly: what is not surely the named
// thing is not allowed. What is denied matches broadly: what may be the named thing is denied. The names of servers do
// not count, since whoever writes an entry chooses them.

// JudgePolicies returns which rule refuses a launch, nil if none does. Id nil means that it is not known what would be
// launched.
func JudgePolicies(policies []event.LaunchPolicy, id *event.LaunchIdentity) *event.LaunchRefusal {
	for i := range policies {
		if r := judgePolicy(&policies[i], id); r != nil {
			return r
		}
	}
	return nil
}

func judgePolicy(p *event.LaunchPolicy, id *event.LaunchIdentity) *event.LaunchRefusal {
	if p.Unreadable != "" { // a list that it lacks must not count as one that is empty
		return &event.LaunchRefusal{From: p.From, Line: p.Line, Why: p.Unreadable}
	}
	if id == nil {
		id = &event.LaunchIdentity{}
	}
	// What is none of both has neither, and is in no list.
	process, remote := id.Command != "" || id.URL == "", id.URL != "" || id.Command == ""
	var words launchWords
	if len(p.Denied) > 0 {
		words = wordsOf(id)
	}
	for _, rule := range p.Denied {
		if mayBe(&rule, id, &words) {
			why := "denies " + rule.Text
			if rule.Of != "" {
				why += ", which is " + rule.Of
			}
			return &event.LaunchRefusal{From: p.From, Line: rule.Line, Rule: rule.Name, Why: why}
		}
	}
	for _, list := range p.Only {
		if list.Personal && id.Host || !(list.Processes && process || list.Remotes && remote) {
			continue
		}
		if !slices.ContainsFunc(list.Rules, func(r event.LaunchRule) bool { return surelyIs(&r, id) }) {
			why := list.Why
			if id.Nearby != "" && len(list.Rules) > 0 {
				why += "; " + id.Nearby
			}
			return &event.LaunchRefusal{From: p.From, Line: list.Line, Rule: list.Name, Why: why}
		}
	}
	return nil
}

// CheckPolicy returns a policy whose rules can be compared, or one that cannot be used if a rule names nothing that can
// be. Of the rules that are from a registry's list, those that name nothing are left out.
func CheckPolicy(p event.LaunchPolicy) event.LaunchPolicy {
	check := func(rules []event.LaunchRule) (kept []event.LaunchRule) {
		for _, r := range rules {
			ok := true
			switch r.Kind {
			case event.LaunchPackage:
				r.Package, ok = packageNamed(r.Text)
				if r.AnyVersion {
					r.Package.Version = ""
				}
			case event.LaunchURL:
				ok = isAddressRule(r.URL) && !(r.Listed && strings.Contains(r.URL, "*"))
			}
			if ok {
				kept = append(kept, r)
			} else if !r.Listed && p.Unreadable == "" {
				p.Line, p.Unreadable = r.Line, r.Name+` cannot be used: "`+r.Text+`" is none of npm:NAME, pypi:NAME and oci:NAME, `+
					`with or without @VERSION, and no plain http or https address`
			}
		}
		return kept
	}
	p.Denied, p.Only = check(p.Denied), slices.Clone(p.Only)
	for i := range p.Only {
		p.Only[i].Rules = check(p.Only[i].Rules)
	}
	return p
}

// surelyIs reports whether a launch is what a rule names, for a list of what is allowed.
func surelyIs(r *event.LaunchRule, id *event.LaunchIdentity) bool {
	switch r.Kind {
	case event.LaunchCommand:
		return id.URL == "" && isCommand(r.Command, id)
	case event.LaunchPackage:
		p, _, ok := packageOf(id)
		return id.URL == "" && ok && p.Type == r.Package.Type && p.Name == r.Package.Name &&
			(r.Package.Version == "" || r.Package.Version == p.Version)
	case event.LaunchURL:
		return id.Command == "" && isAddress(r.URL, id.URL)
	}
	return false
}

// mayBe reports whether a launch may be what a rule names, for a list of what is denied.
func mayBe(r *event.LaunchRule, id *event.LaunchIdentity, words *launchWords) bool {
	switch r.Kind {
	case event.LaunchCommand:
		return words.mayBeCommand(r.Command)
	case event.LaunchPackage:
		return id.URL == "" && words.mayBePackage(&r.Package)
	case event.LaunchURL:
		return mayBeAddress(r.URL, id, words)
	}
	return true
}

// judge notes which rule refuses the launch of a server, and stops what runs of it.
func (s *State) judge(sv *server) {
	was, now := sv.refusal, sv.refusalOf()
	if sv.removed || was == now || was != nil && now != nil && *was == *now {
		return
	}
	if sv.refusal = now; now != nil {
		s.stopServer(sv, stopOrdered, &event.CancelCause{Origin: event.OriginPolicy, Reason: now.Text()}, true)
	}
	sv.restAnew()
	if now == nil && sv.entry.Eager && sv.usable() {
		s.queueStart(sv)
	}
	s.showNew(sv)
}

// refusalOf returns which rule refuses the entry of a server. A broken entry has nothing to refuse.
func (sv *server) refusalOf() *event.LaunchRefusal {
	e := sv.launch.entry()
	if e == nil || sv.entry.Broken {
		return nil
	}
	return e.Refusal
}
