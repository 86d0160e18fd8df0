package soak

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// told is what the window was told about one call.
type told struct {
	begun      time.Time // when the hub was asked to make the call
	terminals  int
	cancelling bool
	cancelled  *event.RequestCancelled
	settled    *event.RequestCancelDelivery // for a cancel that was pending at the terminal event
	late       bool                         // it was answered after that
	finished   *event.RequestFinished
	asked      int
	answered   bool // the window has answered a question of the call
	result     string
}

// question is one open prompt.
type question struct {
	tag   string // the call that really asks; "": the question does not say
	owner string // the call that the hub names; "": none
}

// view is the window. It records what it is told and answers some of the questions.
type view struct {
	win     *hub.Window
	refuse  bool // it accepts nothing, because it does not know the server's forms
	figures *figures
	work    sync.WaitGroup // the goroutines of its answers

	mu    sync.Mutex // guards what follows
	rng   *rand.Rand
	calls map[string]*told
	open  map[string]question
}

func attach(t *testing.T, h *hub.Hub, s *subject, f *figures, rng *rand.Rand) *view {
	t.Helper()
	v := &view{refuse: s.name == "everything", figures: f, rng: rng, calls: map[string]*told{},
		open: map[string]question{}}
	win, _, err := h.Attach(hub.Hello{WindowID: "w", SamplingTools: true, Kinds: []event.PromptKind{
		event.PromptToolApproval, event.PromptSampling, event.PromptElicitationForm, event.PromptElicitationURL,
	}}, v)
	if err != nil {
		t.Fatal(err)
	}
	v.win = win
	return v
}

// Closed implements hub.Sink.
func (v *view) Closed(*event.Error) {}

// Deliver implements hub.Sink. Requests that are not calls of the test (starts of sessions, questions) are not in
// calls.
func (v *view) Deliver(e event.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch b := e.Body.(type) {
	case *event.RequestCancelling:
		if c := v.calls[b.RequestID]; c != nil {
			c.cancelling = true
		}
	case *event.RequestCancelled:
		if c := v.calls[b.RequestID]; c != nil {
			c.terminals++
			c.cancelled = b
		}
	case *event.RequestCancelDelivery:
		if c := v.calls[b.RequestID]; c != nil {
			if c.settled != nil || c.cancelled == nil {
				v.figures.bad("not one delivery behind its terminal event", "%s: %+v", b.RequestID, b)
			}
			c.settled = b
		}
	case *event.RequestAnsweredLate:
		if c := v.calls[b.RequestID]; c != nil {
			if c.late || c.cancelled == nil || c.cancelled.Late != nil {
				v.figures.bad("not one late answer behind its terminal event", "%s: %+v", b.RequestID, b)
			}
			c.late = true
		}
	case *event.RequestFinished:
		if c := v.calls[b.RequestID]; c != nil {
			c.terminals++
			c.finished = b
		}
	case *event.PromptOpened:
		v.opened(b.Prompt)
	case *event.PromptClosed:
		delete(v.open, b.PromptID)
		switch b.Cause {
		case event.CauseParent:
			v.figures.closedByParent++
		case event.CauseWithdrawn:
			v.figures.withdrawn++
		}
	}
}

var tagged = regexp.MustCompile(`t\d+x\d+z`)

func (v *view) opened(p event.PromptInfo) { // called with mu held
	q := question{tag: string(tagged.Find(p.Question.Payload)), owner: p.ParentRequestID}
	if v.calls[p.RequestID] != nil {
		q.owner = p.RequestID // a question of the modern era is not a request of its own
	}
	v.figures.questions++
	v.open[p.ID] = q
	v.judge(p, q)
	if v.rng.IntN(10) >= 3 {
		return
	}
	answer := event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline}
	switch n := v.rng.IntN(4); {
	case n == 0:
		answer.Action = event.ActionDismiss
	case n > 1 && !v.refuse && p.Kind == event.PromptSampling:
		answer.Action, answer.Content = event.ActionAccept,
			`{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"}`
	case n > 1 && !v.refuse:
		answer.Action, answer.Content = event.ActionAccept, `{"name":"Ada"}`
	}
	if c := v.calls[q.tag]; c != nil {
		c.answered = true
	}
	wait := time.Duration(v.rng.Int64N(int64(10 * time.Millisecond)))
	v.work.Go(func() {
		<-time.After(wait)
		_ = v.win.Answer(answer) // fails if the question has closed, which is expected
	})
}

// judge compares the call that a question belongs to with the call that the hub names. It must be called with mu held.
func (v *view) judge(p event.PromptInfo, q question) {
	owner, asker := v.calls[q.owner], v.calls[q.tag]
	if asker != nil {
		asker.asked++
	}
	if owner == nil && q.owner != "" && !strings.HasPrefix(q.owner, passing) {
		v.figures.bad("a question opened for a call that is long over", "%s %s for %s", p.ID, p.Kind, q.owner)
	}
	if owner != nil && (owner.cancelling || owner.terminals > 0) {
		v.figures.bad("a question opened for a call that is over", "%s %s for %s", p.ID, p.Kind, q.owner)
	}
	if q.tag != "" && q.owner != "" && q.owner != q.tag {
		v.figures.bad("a question was given to another call", "%s of %s to %s", p.ID, q.tag, q.owner)
	}
	switch {
	case q.tag == "" || asker != nil && !asker.cancelling && asker.terminals == 0:
	case v.figures.subject.exact:
		v.figures.bad("a question opened although the stream says that its call is over", "%s of %s", p.ID, q.tag)
	case q.owner == "":
		v.figures.ghosts++
	}
}

// nudge dismisses a question that nobody has answered.
func (v *view) nudge(id string) {
	v.mu.Lock()
	q, ok := v.open[id]
	if c := v.calls[q.tag]; ok && c != nil {
		c.answered = true
	}
	if ok {
		v.figures.nudged++
	}
	v.mu.Unlock()
	_ = v.win.Answer(event.PromptAnswer{PromptID: id, Action: event.ActionDismiss}) // it may have closed
}

// note records the result of a call.
func (v *view) note(tag, result string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls[tag].result = result
}

func (v *view) begin(tag string) *told {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := &told{}
	v.calls[tag] = c
	return c
}

// start records when the hub is asked to make a call.
func (v *view) start(tag string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls[tag].begun = time.Now()
}

// left returns the open questions.
func (v *view) left() map[string]question {
	v.mu.Lock()
	defer v.mu.Unlock()
	left := map[string]question{}
	for id, q := range v.open {
		left[id] = q
	}
	return left
}

// told returns what was told about the calls of this batch.
func (v *view) told() map[string]*told {
	v.mu.Lock()
	defer v.mu.Unlock()
	calls := map[string]*told{}
	for tag, c := range v.calls {
		copied := *c
		calls[tag] = &copied
	}
	return calls
}

// pending counts the calls whose cancel is still pending.
func (v *view) pending() (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.calls {
		if c.cancelled != nil && c.cancelled.Sending.Delivery == event.DeliveryPending && c.settled == nil {
			n++
		}
	}
	return n
}

// answered reports whether a question of a call was answered.
func (v *view) answered(tag string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.calls[tag].answered
}

// forget drops the records of the batch.
func (v *view) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls = map[string]*told{}
}
