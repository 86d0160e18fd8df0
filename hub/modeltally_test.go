package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
)

// tally counts what happened in all histories of a model, including the messages of the log, whose handler it is.
type tally struct {
	mu     sync.Mutex // guards below
	counts map[string]int
}

func (y *tally) add(what string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.counts == nil {
		y.counts = map[string]int{}
	}
	y.counts[what]++
}

func (y *tally) Enabled(context.Context, slog.Level) bool { return true }
func (y *tally) WithAttrs([]slog.Attr) slog.Handler       { return y }
func (y *tally) WithGroup(string) slog.Handler            { return y }

func (y *tally) Handle(_ context.Context, r slog.Record) error {
	y.add(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "origin" {
			y.add(r.Message + " by " + a.Value.String())
		}
		return true
	})
	return nil
}

// tell counts what the witness of one history saw.
func (m *model) tell() {
	methods := map[string]string{}
	for _, e := range eventsOf[*event.RequestStarted](m.witness) {
		methods[e.Request.ID] = e.Request.Method
	}
	for _, e := range eventsOf[*event.RequestCancelled](m.witness) {
		m.happened.add(fmt.Sprintf("%s cancelled by %v", methods[e.RequestID], e.Cancellation.Origin))
	}
	consent := map[string]event.LaunchConsent{}
	for _, e := range eventsOf[*event.ServerChanged](m.witness) {
		s := e.Server
		if before := consent[s.Name]; before != s.LaunchConsent {
			m.happened.add(fmt.Sprintf("consent from %d to %d", before, s.LaunchConsent))
		}
		consent[s.Name] = s.LaunchConsent
		m.happened.add(fmt.Sprintf("%v with consent %d", s.State, s.LaunchConsent))
	}
}

// missing reports what happened in none of the histories: they prove nothing about it.
func (y *tally) missing(t *testing.T) {
	t.Helper()
	wanted := []string{
		"a reload as host", "a reload as user", "a reload as workspace", "a start as workspace", "a start with an input",
		"server gone", "server is started again", "server given up",
		fmt.Sprintf("server is stopped by %v", event.OriginPolicy), // nothing has used it for its idle time
		fmt.Sprintf("consent from %d to %d", event.LaunchAsking, event.LaunchGiven),
		fmt.Sprintf("consent from %d to %d", event.LaunchAsking, event.LaunchDeclined),
		fmt.Sprintf("consent from %d to %d", event.LaunchGiven, event.LaunchNeeded),
		fmt.Sprintf("launch cancelled by %v", event.OriginHost), fmt.Sprintf("input cancelled by %v", event.OriginHost),
		fmt.Sprintf("launch cancelled by %v", event.OriginTimeout), fmt.Sprintf("input cancelled by %v", event.OriginTimeout),
	}
	for _, scope := range []event.ApprovalScope{event.ScopeOnce, event.ScopeWindow, event.ScopeWorkspace,
		event.ScopeAlways} {
		for _, kind := range []event.PromptKind{event.PromptToolApproval, event.PromptServerLaunch, event.PromptConfigInput} {
			wanted = append(wanted, fmt.Sprintf("%s answered with %d for scope %d", kind, event.ActionAccept, scope))
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, what := range wanted {
		if y.counts[what] == 0 {
			t.Errorf("never happened in any history: %s", what)
		}
	}
	for _, what := range wanted {
		t.Logf("%6d %s", y.counts[what], what)
	}
}
