package edit

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
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

// apply returns an entry of a dialect with the settings.
func (set *Settings) apply(entry object, dialect string) (object, *Refusal) {
	s := settler{entry, dialect}
	if set.Enabled != nil {
		s.enable(*set.Enabled)
	}
	for _, tool := range slices.Sorted(maps.Keys(set.Approvals)) {
		s.approve(tool, set.Approvals[tool])
	}
	for _, clock := range slices.Sorted(maps.Keys(set.Timeouts)) {
		if !slices.Contains([]string{"connect", "idle", "total", "human"}, clock) {
			return nil, refuse(Wrong, 0, "timeouts", "there is no clock %q; it is connect, idle, total or human", short(clock))
		}
		s.limit(clock, set.Timeouts[clock])
	}
	return s.entry, nil
}

// check returns a refusal unless an entry says what was to be set: another part of the file may say otherwise.
func (set *Settings) check(s *config.Server) *Refusal {
	says := func(field string) (line int) { return s.Fields[field].Line }
	if set.Enabled != nil && s.Disabled == *set.Enabled {
		return refuse(Unsupported, says("disabled"), s.Fields["disabled"].Key,
			"decides whether the server is on, in another place of the file; edit the file by hand")
	}
	for tool, p := range set.Approvals {
		if p != "" && s.Policy(tool) != p {
			return refuse(Unsupported, 0, "approvals", "a pattern of the entry says %q of the tool %q; change that pattern",
				s.Policy(tool), short(tool))
		}
	}
	clocks := map[string]any{"connect": s.Timeouts.Connect, "idle": s.Timeouts.Idle, "total": s.Timeouts.Total,
		"human": s.Timeouts.Human}
	for clock, want := range set.Timeouts {
		if want != nil && !reflect.DeepEqual(clocks[clock], want) {
			return refuse(Unsupported, says("timeouts."+clock), "timeouts."+clock, "cannot be set in this file; edit it by hand")
		}
	}
	return nil
}

// settler carries settings out on an entry.
type settler struct {
	entry   object
	dialect string
}

func (s *settler) set(v any, path ...string) { s.entry = s.entry.with(v, path...) }

// drop takes a value out, and the objects on the way to it that are empty then.
func (s *settler) drop(path ...string) {
	if _, there := s.entry.get(path...); !there {
		return
	}
	s.entry = s.entry.without(path...)
	for n := len(path) - 1; n > 0; n-- {
		s.entry = s.entry.withoutEmpty(path[:n])
	}
}

// value returns what the entry has at a path; null is nothing.
func (s *settler) value(path ...string) (any, bool) {
	v, _ := s.entry.get(path...)
	return v, v != nil
}

// enable says it in every word for it that the entry has, else in the dialect's own if it has to be said.
func (s *settler) enable(on bool) {
	said := false
	for _, w := range []struct {
		key string
		on  bool
	}{{"disabled", false}, {"enabled", true}, {"isActive", true}} {
		if _, ok := s.value(w.key); ok && (w.key != "isActive" || s.dialect == config.DialectMcpServers) {
			said = true
			s.set(on == w.on, w.key)
		}
	}
	if !said && !on {
		m := disabledIn(s.dialect)
		s.set(m.value, m.name)
	}
}

func disabledIn(dialect string) member {
	if dialect == config.DialectCodex || dialect == config.DialectOpencode {
		return member{"enabled", false}
	}
	return member{"disabled", true}
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
func (s *settler) approve(tool string, p config.Policy) {
	lists := listsOf[s.dialect]
	to := slices.IndexFunc(lists, func(key string) bool { _, ok := s.value(key); return ok })
	for _, key := range lists {
		old, _ := s.value(key)
		if list, _ := old.([]any); slices.Contains(list, any(tool)) {
			s.set(slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == any(tool) }), key)
		}
	}
	s.drop("approvals", tool)
	mode := map[config.Policy]string{config.Allow: "approve", config.Ask: "prompt"}[p] // Codex knows two of three
	switch {
	case s.dialect == config.DialectCodex && mode != "":
		s.set(mode, "tools", tool, "approval_mode")
		return
	case s.dialect == config.DialectCodex:
		s.drop("tools", tool, "approval_mode")
	case p == config.Allow && len(lists) > 0:
		key := lists[max(to, 0)]
		old, _ := s.value(key)
		list, _ := old.([]any)
		s.set(append(slices.Clip(list), tool), key)
		return
	}
	if p != "" {
		s.set(string(p), "approvals", tool)
	}
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
		old, _ := s.value("timeout")
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

// limit sets a clock: in the hub's own key where the entry has that, which wins, or where the dialect's cannot say it;
// else in the dialect's own.
func (s *settler) limit(clock string, d *time.Duration) {
	theirs, ok := s.clockKey(clock)
	if d == nil {
		s.drop("timeouts", clock)
		if s.dialect == config.DialectCodex && clock == "connect" {
			s.drop("startup_timeout_ms")
		}
		if ok {
			s.drop(theirs.path...)
		}
		return
	}
	if _, ours := s.value("timeouts", clock); ok && !ours && *d > 0 {
		n := float64(*d) / float64(theirs.unit)
		whole := n == math.Trunc(n) || s.dialect == config.DialectCodex
		if whole && n >= 1 && (theirs.most == 0 || n <= theirs.most) {
			s.set(json.Number(strconv.FormatFloat(n, 'f', -1, 64)), theirs.path...)
			return
		}
	}
	s.set(durationText(*d), "timeouts", clock)
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
