package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
)

// tally counts what happened in all histories of a model, the lines of the log among it.
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
	return nil
}

// tell counts what the witness of one history saw.
func (m *model) tell() {
	methods := map[string]string{}
	for _, e := range eventsOf[*hub.RequestStarted](m.witness) {
		methods[e.Request.ID] = e.Request.Method
	}
	for _, e := range eventsOf[*hub.RequestCancelled](m.witness) {
		m.happened.add(fmt.Sprintf("%s cancelled by %v", methods[e.RequestID], e.Cancellation.Origin))
	}
	consent := map[string]hub.LaunchConsent{}
	for _, e := range eventsOf[*hub.ServerChanged](m.witness) {
		s := e.Server
		if before := consent[s.Name]; before != s.LaunchConsent {
			m.happened.add(fmt.Sprintf("consent from %d to %d", before, s.LaunchConsent))
		}
		consent[s.Name] = s.LaunchConsent
		m.happened.add(fmt.Sprintf("%v with consent %d", s.State, s.LaunchConsent))
	}
}

// missing tells what never happened and should have, if the histories are to prove anything about it.
func (y *tally) missing(t *testing.T) {
	t.Helper()
	wanted := []string{
		"a request was given up", "a reload as host", "a reload as user", "a reload as workspace", "a start as workspace",
		"a start with an input",
		"server gone", "server is started again", "server given up",
		"server is stopped: nothing has used it for its idle time",
		fmt.Sprintf("consent from %d to %d", hub.LaunchAsking, hub.LaunchGiven),
		fmt.Sprintf("consent from %d to %d", hub.LaunchAsking, hub.LaunchDeclined),
		fmt.Sprintf("consent from %d to %d", hub.LaunchGiven, hub.LaunchNeeded),
		fmt.Sprintf("launch cancelled by %v", hub.OriginHost), fmt.Sprintf("input cancelled by %v", hub.OriginHost),
		fmt.Sprintf("launch cancelled by %v", hub.OriginTimeout), fmt.Sprintf("input cancelled by %v", hub.OriginTimeout),
	}
	for _, scope := range []hub.ApprovalScope{hub.ScopeOnce, hub.ScopeWindow, hub.ScopeWorkspace, hub.ScopeAlways} {
		for _, kind := range []hub.PromptKind{hub.PromptToolApproval, hub.PromptServerLaunch, hub.PromptConfigInput} {
			wanted = append(wanted, fmt.Sprintf("%s answered with %d for scope %d", kind, hub.ActionAccept, scope))
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
