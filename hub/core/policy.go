package core

import (
	"slices"

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
	if p.Unreadable != "" {
		return &event.LaunchRefusal{From: p.From, Line: p.Line, Why: p.Unreadable}
	}
	if id == nil {
		id = &event.LaunchIdentity{}
	}
	// What is none of both has neither, and is in no list.
	process, remote := id.Command != "" || id.URL == "", id.URL != "" || id.Command == ""
	for _, rule := range p.Denied {
		if mayBe(&rule, id) {
			return &event.LaunchRefusal{From: p.From, Line: rule.Line, Rule: rule.Name, Why: "denies " + rule.Text}
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
func mayBe(r *event.LaunchRule, id *event.LaunchIdentity) bool {
	switch r.Kind {
	case event.LaunchCommand:
		return mayBeCommand(r.Command, id)
	case event.LaunchPackage:
		return mayBePackage(&r.Package, id)
	case event.LaunchURL:
		return mayBeAddress(r.URL, id)
	}
	return true
}

// policiesRead replaces the policies. What runs and is refused from now on is stopped, with the rule as its reason.
func (s *State) policiesRead(policies []event.LaunchPolicy) {
	s.policies = policies
	for _, n := range s.serverNumbers() {
		s.judge(s.servers[n])
	}
}

// judge notes which rule refuses the launch of a server, and stops what runs of it.
func (s *State) judge(sv *server) {
	was, now := sv.refusal, s.refusalOf(sv)
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
func (s *State) refusalOf(sv *server) *event.LaunchRefusal {
	e := sv.launch.entry()
	if e == nil || sv.entry.Broken {
		return nil
	}
	return JudgePolicies(s.policies, e.Identity)
}

// LaunchRefusal returns which rule refuses what is about to be launched, nil if none does.
func (s *State) LaunchRefusal(id *event.LaunchIdentity) *event.LaunchRefusal {
	return JudgePolicies(s.policies, id)
}
