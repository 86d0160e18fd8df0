package demo

import (
	"os"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func startedEvent(id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestStarted{
		McpRequestStarted: &mcphubv1.McpRequestStarted{Request: &mcphubv1.Request{RequestId: id}}}}
}

func finishedEvent(id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestFinished{
		McpRequestFinished: &mcphubv1.McpRequestFinished{RequestId: id}}}
}

func cancelledEvent(id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestCancelled{
		McpRequestCancelled: &mcphubv1.McpRequestCancelled{RequestId: id}}}
}

// TestDemoSeesTwoEnds: the demo's own check fails when a window was told no end, or two.
func TestDemoSeesTwoEnds(t *testing.T) {
	tests := []struct {
		name   string
		events []*mcphubv1.AttachResponse
		right  bool
	}{
		{"one end each", []*mcphubv1.AttachResponse{startedEvent("a"), startedEvent("b"), finishedEvent("a"),
			cancelledEvent("b")}, true},
		{"no end", []*mcphubv1.AttachResponse{startedEvent("a")}, false},
		{"two ends", []*mcphubv1.AttachResponse{startedEvent("a"), cancelledEvent("a"), finishedEvent("a")}, false},
	}
	for _, test := range tests {
		s := &stage{left: new(screen), right: new(screen)}
		for _, event := range test.events {
			s.left.log.Add(event)
			s.right.log.Add(event)
		}
		n, err := s.endedOnce()
		if (err == nil) != test.right {
			t.Errorf("%s: %d requests, error %v", test.name, n, err)
		}
	}
}

// TestDemoWaitsForTheDelivery: a cancel whose delivery is told after its mcpRequestCancelled, as on a busy machine, is
// taken by what is told then.
func TestDemoWaitsForTheDelivery(t *testing.T) {
	const pending, delivered, failed = mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING,
		mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED, mcphubv1.CancelDelivery_CANCEL_DELIVERY_FAILED
	cancelled := func(id string, d mcphubv1.CancelDelivery) *mcphubv1.AttachResponse {
		e := cancelledEvent(id)
		e.GetMcpRequestCancelled().Delivery = d
		return e
	}
	later := func(id string, d mcphubv1.CancelDelivery) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestCancelDelivery{
			McpRequestCancelDelivery: &mcphubv1.McpRequestCancelDelivery{RequestId: id, Delivery: d}}}
	}
	for name, test := range map[string]struct {
		events []*mcphubv1.AttachResponse
		want   mcphubv1.CancelDelivery
	}{
		"at once": {[]*mcphubv1.AttachResponse{cancelled("a", delivered)}, delivered},
		"later": {[]*mcphubv1.AttachResponse{cancelled("b", failed), cancelled("a", pending), later("b", failed),
			later("a", delivered)}, delivered},
		"never": {[]*mcphubv1.AttachResponse{cancelled("a", pending), later("a", failed)}, failed},
	} {
		scr := new(screen)
		for _, event := range test.events {
			scr.log.Add(event)
		}
		scr.log.End()
		if got := scr.delivery(t.Context(), "a"); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestDemoHearsOnce: the demo's own check fails when the server received no cancel, another one, or the same twice.
func TestDemoHearsOnce(t *testing.T) {
	const once = `{"event":"cancel_received","reason":"why"}` + "\n"
	for record, right := range map[string]bool{
		once:                               true,
		once + `{"event":"finis`:           true, // a line that is being written
		"":                                 false,
		once + once:                        false,
		strings.Replace(once, "w", "t", 1): false,
		`{"event":"cancelled","reason":"why"}` + "\n": false,
	} {
		s := &stage{dir: t.TempDir()}
		if err := os.WriteFile(s.record(demoServer), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := played(func() { s.heardOnce(demoServer, "why") }); (err == nil) != right {
			t.Errorf("record %q: error %v", record, err)
		}
	}
}

// TestDemoHearsNothing: the demo's own check fails when a server was sent a cancel notification, whatever its content,
// which the binding of that server does not have.
func TestDemoHearsNothing(t *testing.T) {
	for record, right := range map[string]bool{
		"": true,
		`{"event":"cancelled","tool":"sleep"}` + "\n": true,
		`{"event":"cancel_received"}` + "\n":          false,
	} {
		s := &stage{dir: t.TempDir()}
		if err := os.WriteFile(s.record(modernWeb), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := played(func() { s.heardNothing(modernWeb) }); (err == nil) != right {
			t.Errorf("record %q: error %v", record, err)
		}
	}
}

// TestDemoExpectsFailures: a call that was to fail and did not, or failed otherwise, fails its step.
func TestDemoExpectsFailures(t *testing.T) {
	over := make(chan struct{})
	close(over)
	cancelled := &exit.Failure{Code: "CANCELLED", Reason: "CANCELLED"}
	tests := []struct {
		run   *running
		right bool
	}{
		{&running{ended: over, failure: cancelled}, true},
		{&running{ended: over, failure: &exit.Failure{Code: "CANCELLED", Reason: ""}}, false},
		{&running{ended: over, response: &mcphubv1.CallToolResponse{}}, false},
	}
	for i, test := range tests {
		err := played(func() { test.run.fails(t.Context(), "CANCELLED", "CANCELLED") })
		if (err == nil) != test.right {
			t.Errorf("%d: error %v", i, err)
		}
		err = played(func() { test.run.text(t.Context()) })
		if test.run.failure != nil && err == nil {
			t.Errorf("%d: a failed call gives a text", i)
		}
	}
}

// Titles returns the titles of the steps.
func Titles() (titles []string) {
	for _, s := range scenes {
		titles = append(titles, s.title)
	}
	return titles
}
