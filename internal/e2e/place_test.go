//go:build unix

package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/peers"
)

// place is the directory of one test, with the programs under names of their own.
type place struct {
	*doortest.Place
	t    *testing.T
	dir  string
	hub  string // mcphub
	peer string // this test binary, for its roles
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := doortest.NewPlace(t)
	return &place{Place: p, t: t, dir: p.Dir, hub: p.Mcphub(), peer: p.Install(peerProgram)}
}

func (p *place) file(name string) string { return filepath.Join(p.dir, name) }

// entry is a server in a config, as a user writes it.
type entry struct {
	Command         string            `json:"command,omitempty"`
	Args            []string          `json:"args,omitempty"`
	Dir             string            `json:"cwd,omitempty"`
	Env             map[string]string `json:"env,omitempty"`
	URL             string            `json:"url,omitempty"`
	Type            string            `json:"type,omitempty"`
	Headers         map[string]string `json:"headers,omitempty"`
	OAuth           map[string]any    `json:"oauth,omitempty"`
	Era             string            `json:"era,omitempty"`
	Approvals       map[string]string `json:"approvals,omitempty"`
	Timeouts        map[string]string `json:"timeouts,omitempty"`
	Stop            map[string]string `json:"stop,omitempty"`
	MaxMessageBytes int               `json:"maxMessageBytes,omitempty"`
	Start           string            `json:"start,omitempty"`
}

type servers map[string]entry

func (s servers) config() string {
	text, err := json.Marshal(map[string]any{"mcpServers": s})
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(text)
}

// atOnce lets a program under the race detector exit at once; by default it waits a second for reports of others.
var atOnce = map[string]string{"GORACE": "atexit_sleep_ms=0"}

var allowAll = map[string]string{"*": "allow"}

// demo is the built-in demo server, a server on the official Go SDK.
func (p *place) demo(era string) entry {
	return entry{Command: p.hub, Args: []string{"demo-server", "--record", p.file("demo.jsonl")}, Dir: p.dir, Era: era,
		Approvals: allowAll}
}

// everything is the reference server of the protocol's authors, on the TypeScript SDK. It does not exit when its input
// ends.
func (p *place) everything() entry {
	command, args := peers.Everything(p.t)
	return quick(entry{Command: command, Args: args, Dir: p.dir, Approvals: allowAll})
}

// fake is this test binary as a server that behaves as its flags say; see beFake.
func (p *place) fake(flags ...string) entry {
	return entry{Command: p.peer, Args: append([]string{"fake"}, flags...), Dir: p.dir, Env: atOnce, Approvals: allowAll}
}

// asking is e with an approval prompt before each call.
func asking(e entry) entry {
	e.Approvals = nil
	return e
}

// quick is e with short graces at its end, for a server that has to be killed.
func quick(e entry) entry {
	e.Stop = map[string]string{"stdin": "200ms", "terminate": "200ms"}
	return e
}

// demoEvents reads what the demo server has recorded.
func (p *place) demoEvents() []demoEvent {
	p.t.Helper()
	text, err := os.ReadFile(p.file("demo.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // there is none before the server has started
		p.t.Fatal(err)
	}
	var events []demoEvent
	for line := range strings.Lines(string(text)) {
		var e demoEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
		events = append(events, e)
	}
	return events
}

type demoEvent struct{ Event, Tool, Reason, Detail string }

// reasonsHeard returns the reasons of the cancels that the demo server has received.
func (p *place) reasonsHeard() []string {
	p.t.Helper()
	var reasons []string
	for _, e := range p.demoEvents() {
		if e.Event == "cancel_received" {
			reasons = append(reasons, e.Reason)
		}
	}
	return reasons
}

// until polls for what no event reports.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	untilOr(t, what, holds, func() any { return "" })
}

// untilOr is until with what was seen last, for the message of a failing test. It is the one place that polls.
func untilOr(t *testing.T, what string, holds func() bool, seen func() any) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	end := time.NewTimer(faketime.Long)
	defer end.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-end.C:
			t.Fatalf("still not so: %s: %v", what, seen())
		}
	}
}
