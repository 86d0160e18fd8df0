package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"golang.org/x/tools/txtar"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/internal/script"
)

// TestScripts plays the conversations under testdata/scripts. Each file of an archive but "want" is a step, and after
// each step the test waits until every goroutine is blocked. A step is named for what it does:
//
//	send     its lines are what the other side sends
//	do       its lines are commands:
//	         call NAME METHOD [PARAMS]   begin a call
//	         cancel NAME REASON          end its context
//	         answer ID RESULT            let the handler answer an incoming request
//	         notify METHOD [PARAMS]
//	         close REASON
//	         era batches|modern          as if that revision had been negotiated
//
// "want" has, for each step, what was written ("<- ...") and what the owner of the peer saw ("   ...").
func TestScripts(t *testing.T) {
	script.Play(t, "testdata/scripts/*.txtar", playScript)
}

// conversation is the owner of the peer in a script.
type conversation struct {
	p       *jsonrpc.Peer
	w       *wire
	desk    desk
	cancels map[string]func(string)
	batches bool
	modern  bool

	mu   sync.Mutex // guards seen
	seen []string
}

func playScript(t *testing.T, steps []txtar.File) string {
	s := &conversation{cancels: map[string]func(string){}}
	s.p, s.w = start(t, jsonrpc.Options{
		HandleRequest:       s.handle,
		HandleNotification:  func(n *jsonrpc.Notification) { s.see("notified %s %s", n.Method, n.Params) },
		Batches:             func() bool { return s.batches },
		NoServerRequests:    func() bool { return s.modern },
		OnOutgoingCancelled: func(jsonrpc.ID, string) bool { return s.modern },
	})
	var got strings.Builder
	read := 0
	for i, step := range steps {
		fmt.Fprintf(&got, "step %d: %s\n", i+1, step.Name)
		for line := range strings.Lines(string(step.Data)) {
			line = strings.TrimSuffix(line, "\n")
			if step.Name == "send" {
				s.w.send(line)
			} else {
				s.do(t, line)
			}
		}
		synctest.Wait()
		out := s.w.written()
		for _, msg := range out[read:] {
			fmt.Fprintf(&got, "<- %s\n", msg)
		}
		read = len(out)
		s.mu.Lock()
		slices.Sort(s.seen) // the events of one step have no order
		for _, line := range s.seen {
			fmt.Fprintf(&got, "   %s\n", line)
		}
		s.seen = nil
		s.mu.Unlock()
	}
	fmt.Fprintf(&got, "at the end: %d pending, %s\n", len(s.p.Tracker().Pending()), nonZero(s.p.Stats()))
	for _, cancel := range s.cancels {
		cancel("script over")
	}
	return got.String()
}

// nonZero prints the counters that are not zero.
func nonZero(stats jsonrpc.Stats) string {
	text := strings.Trim(fmt.Sprintf("%+v", stats), "{}")
	var counts []string
	for _, field := range strings.Fields(text) {
		if !strings.HasSuffix(field, ":0") {
			counts = append(counts, field)
		}
	}
	return strings.Join(append(counts, "nothing else"), " ")
}

func (s *conversation) see(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (s *conversation) handle(ctx context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
	s.see("asked %s %s %s", r.ID, r.Method, r.Params)
	result, err := s.desk.handle(ctx, r)
	if ctx.Err() != nil {
		s.see("ended %s: %v", r.ID, context.Cause(ctx))
	}
	return result, err
}

func (s *conversation) do(t *testing.T, line string) {
	t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	name, rest, _ := strings.Cut(rest, " ")
	switch word {
	case "call":
		method, params, _ := strings.Cut(rest, " ")
		ctx, cancel := cancellable()
		s.cancels[name] = cancel
		c, err := s.p.Begin(method, json.RawMessage(params))
		if err != nil {
			s.see("call %s: %v", name, err)
			return
		}
		go func() {
			result, err := c.Wait(ctx)
			s.see("call %s: %s %v", name, result, err)
		}()
	case "cancel":
		s.cancels[name](rest)
	case "answer":
		s.desk.answer(t, name, rest)
	case "notify":
		if err := s.p.Notify(name, json.RawMessage(rest)); err != nil {
			s.see("notify: %v", err)
		}
	case "close":
		s.p.Close(errors.New(strings.TrimSpace(name + " " + rest)))
	case "era":
		s.batches, s.modern = name == "batches", name == "modern"
	default:
		t.Fatalf("unknown command %q", line)
	}
}
