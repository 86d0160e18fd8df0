package core

import (
	"fmt"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
)

// rulesOf are the rules of an entry's tools: the policy by tool, ask if there is none; 0 hides the tool.
type rulesOf map[string]event.Policy

func (r rulesOf) Policy(tool string) event.Policy {
	if p := r[tool]; p != 0 {
		return p
	}
	return event.PolicyAsk
}

func (r rulesOf) Visible(tool string) bool {
	p, said := r[tool]
	return !said || p != 0
}

// What an entry that needs a consent allows counts only with the consent; what it hides or denies always counts. While
// its server is connected, what people had agreed to holds on for tools that both versions of the entry allow.
func TestToolTerms(t *testing.T) {
	const allow, ask, deny = event.PolicyAllow, event.PolicyAsk, event.PolicyDeny
	entry := func(hash string, held bool, rules rulesOf) []LaunchEntry {
		return []LaunchEntry{{EntryID: EntryID{"f", "l"}, Form: Form{"f", hash}, Held: held, Tools: rules}}
	}
	first := rulesOf{"read": allow, "rm": deny, "secret": 0, "other": allow}
	later := rulesOf{"read": allow, "rm": allow, "secret": allow, "more": allow}
	configured := func(entries []LaunchEntry) Event {
		return ServerConfigured{Server: 1, Launch: entries, Counts: entries[0].EntryID}
	}
	up := []Event{ServerWanted{Server: 1, Waiter: 1}, RequestMade{Prefix: "start", Server: 1, Start: true},
		StartOver{Request: 1}}
	for _, c := range []struct {
		what   string
		held   bool
		events []Event
		want   string // policies of read, rm, secret, more and other, with ! if earlier approvals do not count
	}{
		{what: "no consent", want: "ask deny hidden ask ask"},
		{what: "a consent", held: true, want: "allow deny hidden ask allow"},
		{what: "another version, not connected", held: true,
			events: []Event{configured(entry("2", false, later))}, want: "ask ask ask ask ask"},
		{what: "another version, connected", held: true,
			events: append(up, configured(entry("2", false, later))), want: "allow ask! ask! ask ask"},
		{what: "another version, and a consent to it", held: true,
			events: append(up, configured(entry("2", true, later))), want: "allow allow allow allow ask"},
		{what: "another version, and the consent to the first is taken back", held: true,
			events: append(up, configured(entry("2", false, later)), LaunchSeen{Server: 1, Entries: entry("2", false, later)}),
			want:   "ask ask! ask! ask ask"},
		{what: "another launch", held: true, events: append(up, ServerConfigured{Server: 1,
			Launch: entry("2", false, later), Counts: EntryID{"f", "l"}, Relaunch: true, Cause: because("config")}),
			want: "ask ask ask ask ask"},
		{what: "a look has found another form, and a consent to it", events: []Event{LaunchLooked{Server: 1,
			Entry: EntryID{"f", "l"}, Read: 1, Form: Form{"f", "3"}, Held: true}}, want: "allow deny hidden ask allow"},
		{what: "a look has found a consent, and then another version is seen, connected", events: append([]Event{
			LaunchLooked{Server: 1, Entry: EntryID{"f", "l"}, Read: 1, Form: Form{"f", "1"}, Held: true}},
			append(up, LaunchSeen{Server: 1, Entries: entry("2", false, later), AgreedHeld: true})...),
			want: "allow ask! ask! ask ask"},
		{what: "a broken entry", held: true, events: []Event{ServerConfigured{Server: 1, Entry: Entry{Broken: true},
			Relaunch: true, Cause: because("config")}}, want: "ask ask ask ask ask"},
	} {
		s := New("hub")
		entries := entry("1", c.held, first)
		s.Apply(start, ServerAdded{Server: 1, Name: "s", Launch: entries, Counts: entries[0].EntryID})
		for _, e := range c.events {
			s.Apply(start, e)
		}
		got := ""
		for _, tool := range []string{"read", "rm", "secret", "more", "other"} {
			terms := s.ToolTerms(1, tool)
			says := terms.Policy.String()
			if terms.Hidden {
				says = "hidden"
			}
			if terms.Anew {
				says += "!"
			}
			got += says + " "
		}
		if got != c.want+" " {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	if got := New("hub").ToolTerms(7, "x"); got != (Terms{Policy: ask}) {
		t.Errorf("of no server: %+v", got)
	}
}

// The first entry of a name counts that needs no consent, or has it; without one, the first, about which people are
// asked. While its server is connected, its own entry stays the one that counts, if that comes first.
func TestEntryThatCounts(t *testing.T) {
	entries := func(held ...bool) (list []LaunchEntry) {
		for i, h := range held {
			list = append(list, LaunchEntry{EntryID: EntryID{File: fmt.Sprint(i)}, Form: Form{"f", fmt.Sprint(i)}, Held: h})
		}
		return list
	}
	for _, c := range []struct {
		held []bool
		own  string // of the server; "" = there is none
		up   bool
		want string
	}{
		{held: []bool{false, false}, want: "0"},
		{held: []bool{false, true}, want: "1"},
		{held: []bool{true, true}, want: "0"},
		{held: []bool{false, true}, own: "0", want: "1"},
		{held: []bool{false, true}, own: "0", up: true, want: "0"},
		{held: []bool{true, true}, own: "1", up: true, want: "0"},
		{held: []bool{false, true}, own: "9", up: true, want: "1"},
	} {
		s := New("hub")
		if c.own != "" {
			s.Apply(start, ServerAdded{Server: 1, Name: "s", Launch: entries(c.held...), Counts: EntryID{File: c.own}})
		}
		if c.up {
			s.Apply(start, ServerWanted{Server: 1, Waiter: 1})
			s.Apply(start, RequestMade{Prefix: "start", Server: 1, Start: true})
			s.Apply(start, StartOver{Request: 1})
		}
		if got := s.EntryThatCounts(1, entries(c.held...)); got.File != c.want {
			t.Errorf("%+v: %s", c, got.File)
		}
	}
}
