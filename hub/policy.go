package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// HostPolicy is a managed policy that the host hands on. The system's own holds beside it, whatever it says.
type HostPolicy struct {
	Name    string // for people: where the host has it from
	Dialect string // "" or a Policy dialect of package config
	JSON    string // "" = there is none any more
}

// SetHostPolicy replaces the policy of the host from the next LoadConfig or start of a server on.
func (h *Hub) SetHostPolicy(p HostPolicy) {
	var text *config.PolicyText
	if p.JSON != "" {
		name := "the host's policy"
		if p.Name != "" {
			name = bounds.Printable(bounds.Cut(p.Name, bounds.KeptLineBytes))
		}
		text = &config.PolicyText{From: name, Dialect: p.Dialect, Text: []byte(p.JSON)}
	}
	h.config.hostPolicy.Store(text)
}

// SystemPolicies returns the managed policies that hold without a host, for commands that have no hub: that of a file,
// which is SystemPolicyFile() for all but tests.
func SystemPolicies(file string) []event.LaunchPolicy {
	return policyTexts{system: config.ReadPolicyFile(file)}.policies()
}

// policyTexts are the texts of the managed policies that hold.
type policyTexts struct{ system, host *config.PolicyText }

// changedPolicyTexts reads the texts, and returns nil if they are those that were read last.
func (c *Config) changedPolicyTexts() *policyTexts {
	t := policyTexts{system: config.ReadPolicyFile(c.policyFile), host: c.hostPolicy.Load()}
	var last policyTexts
	if p := c.policyTexts.Load(); p != nil {
		last = *p
	}
	if t.system.Same(last.system) && t.host.Same(last.host) {
		return nil
	}
	return &t
}

// policies returns the policies of the texts.
func (t policyTexts) policies() (list []event.LaunchPolicy) {
	for _, text := range []*config.PolicyText{t.system, t.host} {
		if text != nil {
			list = append(list, core.CheckPolicy(text.Policy()))
		}
	}
	return list
}

// loadPolicies reads the managed policies, and applies them if they have changed. It is called without the lock, by
// whoever reads the config.
func (c *Config) loadPolicies() {
	texts := c.changedPolicyTexts()
	if texts == nil {
		return
	}
	defer c.policyTexts.Store(texts) // once they are applied: a start that finds them unchanged relies on that
	list := texts.policies()
	c.policies.Store(&list) // entries that are made from now on are judged by it, and those that there are, next
	keep := c.hub.launches.Anew(c.presentEntries())
	c.hub.update(func(st *state) {
		keep()
		st.consentsChanged()
	})
	for _, p := range list {
		c.hub.log.Info("managed policy", "from", p.From, "unusable", p.Unreadable)
	}
}

// refreshPolicies is loadPolicies for a start of a server. If the config is being read, and the policies have changed,
// it waits for that, within ctx.
func (c *Config) refreshPolicies(ctx context.Context) error {
	if c.changedPolicyTexts() == nil {
		return nil
	}
	select {
	case c.loading <- struct{}{}:
		defer func() { <-c.loading }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c.loadPolicies()
	return nil
}

// presentEntries returns the entries that there are.
func (c *Config) presentEntries() (all grants.Entries) {
	c.hub.update(func(st *state) {
		for _, l := range st.servers {
			all = append(all, l.launch.all()...)
		}
	})
	return all
}

// policyProblems returns what is wrong with the policies.
func (c *Config) policyProblems() (list []event.ConfigProblem) {
	for _, p := range *c.policies.Load() {
		if p.Unreadable != "" {
			list = append(list, event.ConfigProblem{File: p.From, Line: p.Line, Fatal: true,
				Message: "the managed policy cannot be used, so that no server starts: " + p.Unreadable})
		}
	}
	return list
}

// refusal returns which rule of the policies refuses a launch, nil if none does. look is called if there is a policy.
// It takes time that a stranger chooses, so it is called without the lock.
func (c *Config) refusal(look func() *event.LaunchIdentity) *event.LaunchRefusal {
	list := *c.policies.Load()
	if len(list) == 0 {
		return nil
	}
	return core.JudgePolicies(list, look())
}

// permitted returns the error for a launch that a policy refuses, nil if none does.
func (l *launch) permitted(look func() *event.LaunchIdentity) error {
	if refusal := l.hub().config.refusal(look); refusal != nil {
		return refusal.Error(l.server.name)
	}
	return nil
}

// refreshPolicies reads the policies again if s is about to be started.
func (s *server) refreshPolicies(ctx context.Context) error {
	up := false
	s.hub.within(func() { up = s.up() })
	if up {
		return nil
	}
	return s.hub.config.refreshPolicies(ctx)
}
