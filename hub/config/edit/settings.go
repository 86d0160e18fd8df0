package edit

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Settings are what is changed of an entry beside how it is reached. The zero value changes nothing.
type Settings struct {
	Enabled *bool
	// Approvals are by the names of tools, or patterns of them; "" takes out what the entry says of just that name.
	Approvals map[string]config.Policy
	// Timeouts are by clock: connect, idle, total, human. nil takes out what the entry says of it, 0 means no limit.
	Timeouts map[string]*time.Duration
}

// settler carries settings out on an entry.
type settler struct {
	tree
	at      []string // the entry
	dialect string
}

func (s *settler) key(names ...string) []string { return slices.Concat(s.at, names) }

// has tells whether the entry has a key. Doubled ones are told by whoever sets it.
func (s *settler) has(names ...string) (any, bool) {
	v, ok, _ := s.get(s.key(names...))
	return v, ok && v != nil
}

func (s *settler) carryOut(set Settings) *Refusal {
	if set.Enabled != nil {
		if r := s.enable(*set.Enabled); r != nil {
			return r
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(set.Approvals)) {
		if r := s.approve(tool, set.Approvals[tool]); r != nil {
			return r
		}
	}
	for _, clock := range slices.Sorted(maps.Keys(set.Timeouts)) {
		if r := s.time(clock, set.Timeouts[clock]); r != nil {
			return r
		}
	}
	return nil
}

// enable says it in every word for it that the entry has, else in the dialect's own if it has to be said.
func (s *settler) enable(on bool) *Refusal {
	said := false
	for _, w := range []struct {
		key string
		on  bool
	}{{"disabled", false}, {"enabled", true}, {"isActive", true}} {
		if _, ok := s.has(w.key); !ok || w.key == "isActive" && s.dialect != config.DialectMcpServers {
			continue
		}
		said = true
		if r := s.set(s.key(w.key), on == w.on); r != nil {
			return r
		}
	}
	switch {
	case said || on:
		return nil
	case s.dialect == config.DialectCodex || s.dialect == config.DialectOpencode:
		return s.set(s.key("enabled"), false)
	}
	return s.set(s.key("disabled"), true)
}

// listsOf are the keys of a dialect that hold tools which are called without a question, the one that it writes first.
var listsOf = map[string][]string{
	config.DialectVSCode:     {"alwaysAllow", "autoApprove"},
	config.DialectMcpServers: {"alwaysAllow", "autoApprove"},
	config.DialectRoo:        {"alwaysAllow"},
	config.DialectCursor:     {"alwaysAllow"},
	config.DialectCline:      {"autoApprove"},
}

// approve says in the dialect's own key that a tool is called without a question, and all else in the hub's own.
func (s *settler) approve(tool string, p config.Policy) *Refusal {
	for _, key := range listsOf[s.dialect] {
		if r := s.unlist(key, tool); r != nil {
			return r
		}
	}
	if r := s.remove(s.key("approvals", tool)); r != nil {
		return r
	}
	if left, ok := s.has("approvals"); ok {
		if o, isObject := left.(object); isObject && len(o) == 0 {
			if r := s.remove(s.key("approvals")); r != nil {
				return r
			}
		}
	}
	lists := listsOf[s.dialect]
	switch {
	case s.dialect == config.DialectCodex:
		return s.approveCodex(tool, p)
	case p == "":
		return nil
	case p == config.Allow && len(lists) > 0:
		key := lists[0]
		for _, other := range lists {
			if _, ok := s.has(other); ok {
				key = other
				break
			}
		}
		old, _ := s.has(key)
		list, _ := old.([]any)
		return s.set(s.key(key), append(slices.Clone(list), tool))
	}
	return s.set(s.key("approvals", tool), string(p))
}

// approveCodex: its own key knows two of the three policies.
func (s *settler) approveCodex(tool string, p config.Policy) *Refusal {
	mode := map[config.Policy]string{config.Allow: "approve", config.Ask: "prompt"}[p]
	if mode != "" {
		return s.set(s.key("tools", tool, "approval_mode"), mode)
	}
	if r := s.remove(s.key("tools", tool, "approval_mode")); r != nil || p == "" {
		return r
	}
	return s.set(s.key("approvals", tool), string(p))
}

// unlist takes a name out of a list of names.
func (s *settler) unlist(key, name string) *Refusal {
	old, ok := s.has(key)
	list, isList := old.([]any)
	if !ok || !isList || !slices.Contains(list, any(name)) {
		return nil
	}
	return s.set(s.key(key), slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == any(name) }))
}

// unitKey is a dialect's own key for a clock: a number of units, within a range.
type unitKey struct {
	path []string
	unit time.Duration
	most float64 // 0: none
}

// clockKey gives the dialect's own key for a clock, if it has one.
func (s *settler) clockKey(clock string) (k unitKey, ok bool) {
	key := func(unit time.Duration, most float64, path ...string) (unitKey, bool) {
		return unitKey{path, unit, most}, true
	}
	switch {
	case clock == "total" && (s.dialect == config.DialectRoo || s.dialect == config.DialectCline):
		return key(time.Second, 3600, "timeout")
	case clock == "total" && (s.dialect == config.DialectPortable || s.dialect == config.DialectGemini):
		return key(time.Millisecond, 0, "timeout")
	case clock == "total" && s.dialect == config.DialectCodex:
		return key(time.Second, 0, "tool_timeout_sec")
	case clock == "connect" && s.dialect == config.DialectCodex:
		return key(time.Second, 0, "startup_timeout_sec")
	case clock == "connect" && s.dialect == config.DialectCrush:
		return key(time.Second, 3600, "timeout")
	case s.dialect == config.DialectOpencode && (clock == "connect" || clock == "total"):
		old, _ := s.has("timeout")
		switch _, isObject := old.(object); {
		case isObject && clock == "total":
			return key(time.Millisecond, 0, "timeout", "request")
		case isObject:
			return key(time.Millisecond, 0, "timeout", "startup")
		case clock == "connect":
			return key(time.Millisecond, 0, "timeout")
		}
	}
	return unitKey{}, false
}

// time sets a clock: in the hub's own key where the entry has that, which wins, or where the dialect's cannot say it;
// else in the dialect's own.
func (s *settler) time(clock string, d *time.Duration) *Refusal {
	if !slices.Contains([]string{"connect", "idle", "total", "human"}, clock) {
		return refuse(Wrong, 0, "timeouts", "there is no clock %q; it is connect, idle, total or human", short(clock))
	}
	theirs, ok := s.clockKey(clock)
	_, ours := s.has("timeouts", clock)
	if d == nil {
		if r := s.remove(s.key("timeouts", clock)); r != nil {
			return r
		}
		if left, _ := s.has("timeouts"); left != nil {
			if o, isObject := left.(object); isObject && len(o) == 0 {
				if r := s.remove(s.key("timeouts")); r != nil {
					return r
				}
			}
		}
		if s.dialect == config.DialectCodex && clock == "connect" {
			if r := s.remove(s.key("startup_timeout_ms")); r != nil {
				return r
			}
		}
		if !ok {
			return nil
		}
		return s.remove(s.key(theirs.path...))
	}
	if ok && !ours && *d > 0 {
		n := float64(*d) / float64(theirs.unit)
		whole := n == math.Trunc(n) || s.dialect == config.DialectCodex
		if whole && n >= 1 && (theirs.most == 0 || n <= theirs.most) {
			return s.set(s.key(theirs.path...), json.Number(strconv.FormatFloat(n, 'f', -1, 64)))
		}
	}
	return s.set(s.key("timeouts", clock), durationText(*d))
}

// durationText is a duration as people write it: "90s", "5m", "0s".
func durationText(d time.Duration) string {
	switch {
	case d != 0 && d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d != 0 && d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d%time.Second == 0:
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	return d.String()
}
