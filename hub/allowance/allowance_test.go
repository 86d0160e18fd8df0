package allowance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/allowance"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/redact"
)

const secret = "tok-7731-secret"

// house is the House of these tests: it keeps what the windows are told.
type house struct {
	t       *testing.T
	budgets *allowance.Budgets

	mu     sync.Mutex // the lock; guards below
	held   bool
	closed bool
	told   []event.Body
}

// inHouse runs a test in a bubble, with a house that ends with it.
func inHouse(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		redactor := &redact.Redactor{}
		redactor.Add(secret)
		h := &house{t: t}
		h.budgets = allowance.NewBudgets(allowance.Options{House: h, Redactor: redactor,
			Logger: slog.New(slog.DiscardHandler)})
		f(t, h)
		h.Update(func() { h.closed = true })
		h.budgets.Close()
	})
}

func (h *house) Update(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = true
	defer func() { h.held = false }()
	f()
}

func (h *house) Closed() bool { return h.closed }

func (h *house) Emit(b event.Body) {
	if !h.held {
		h.t.Error("the windows were told without the lock")
	}
	h.told = append(h.told, b)
}

// heard gives what the windows were told since it was asked last, once nothing moves: of the hub's own notes their
// names and counts, of the others their kinds.
func (h *house) heard() (list []string) {
	synctest.Wait()
	h.Update(func() {
		for _, b := range h.told {
			list = append(list, words(b))
		}
		h.told = nil
	})
	return list
}

func words(b event.Body) string {
	switch b := b.(type) {
	case *event.LogMessage:
		if !b.Own || b.Logger != "mcphub" {
			return fmt.Sprintf("%s %s %s", b.Level, b.Logger, b.Data)
		}
		var note struct{ Event, Count string }
		if json.Unmarshal([]byte(b.Data), &note) != nil || b.Level != "notice" {
			return "no note: " + b.Data
		}
		if b.Dropped > 0 && fmt.Sprint(b.Dropped) != note.Count {
			return fmt.Sprintf("two counts: %d and %s", b.Dropped, note.Count)
		}
		return strings.TrimSpace(note.Event + " " + note.Count)
	case *event.ToolsChanged:
		return "tools of " + b.Server
	case *event.ResourcesChanged:
		return "resources of " + b.Server
	case *event.McpPromptsChanged:
		return "prompts of " + b.Server
	case *event.ResourceUpdated:
		return "resource " + b.URI
	}
	return fmt.Sprintf("%T", b)
}

func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Log messages and stderr lines pass without secrets and cut to a length, also when it is escapes that make them long.
func TestLogMessages(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		a := h.budgets.Of("s")
		a.Logged(mcp.LogMessage{Level: "info", Logger: "main", Data: json.RawMessage(`{"a": 1.0}`)})
		a.Logged(mcp.LogMessage{Level: secret, Logger: secret, Data: json.RawMessage(`{"a":"` + secret + `"}`)})
		a.Stderr("a \"line\"\x07")
		got := h.heard()
		if len(got) != 3 || got[0] != `info main {"a": 1.0}` || strings.Contains(got[1], secret) ||
			got[2] != `stderr  "a \"line\"\u0007"` {
			t.Errorf("told %q", got)
		}
		long := strings.Repeat("x\"\\", bounds.LogTextBytes)
		a.Logged(mcp.LogMessage{Level: long, Logger: long, Data: json.RawMessage(`"` + strings.Repeat(`\u0000`,
			bounds.LogTextBytes) + `"`)})
		synctest.Wait()
		m := h.told[0].(*event.LogMessage)
		if !json.Valid([]byte(m.Data)) || len(m.Data) > bounds.LogTextBytes || len(m.Level) > 2*bounds.NameBytes ||
			len(m.Logger) > 2*bounds.NameBytes || m.Own {
			t.Errorf("level of %d, logger of %d, data of %d bytes", len(m.Level), len(m.Logger), len(m.Data))
		}
	})
}

// A server that logs too much loses what goes beyond its burst. How much that was is told before the next message, or
// a second later when none comes; another server loses nothing.
func TestLogsAreBounded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		a, other := h.budgets.Of("s"), h.budgets.Of("other")
		say := func(n int) {
			for range n {
				a.Logged(mcp.LogMessage{Level: "info", Data: json.RawMessage(`1`)})
			}
		}
		say(bounds.LogBurst + 7)
		if n := len(h.heard()); n != bounds.LogBurst {
			t.Errorf("%d messages passed, want %d", n, bounds.LogBurst)
		}
		other.Logged(mcp.LogMessage{Level: "info", Data: json.RawMessage(`2`)})
		same(t, "of another server", []string{"info  2"}, h.heard())
		time.Sleep(time.Second / bounds.LogRate)
		say(2)
		same(t, "the next one", []string{"logMessagesDropped 7", "info  1"}, h.heard())
		time.Sleep(2 * time.Second)
		same(t, "a second later", []string{"logMessagesDropped 1"}, h.heard())
		time.Sleep(time.Hour)
		same(t, "an hour later", nil, h.heard())
	})
}

// Notices that do not pass are told once, each kind, a second later: a list must not stay out of date for ever.
func TestNoticesAreBounded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		a, outdated := h.budgets.Of("s"), 0
		for range bounds.NoticeBurst {
			a.ToolsChanged(func() { outdated++ })
		}
		if n := len(h.heard()); n != bounds.NoticeBurst {
			t.Errorf("%d notices passed, want %d", n, bounds.NoticeBurst)
		}
		for range 3 {
			a.ToolsChanged(func() { outdated++ })
			a.ResourcesChanged()
			a.PromptsChanged()
			a.ResourceUpdated("x:1")
		}
		same(t, "beyond the burst", nil, h.heard())
		if outdated != bounds.NoticeBurst+3 {
			t.Errorf("the kept tools were out of date %d times, want %d", outdated, bounds.NoticeBurst+3)
		}
		time.Sleep(2 * time.Second)
		same(t, "a second later", []string{"tools of s", "resources of s", "prompts of s", "noticesDropped 12"}, h.heard())
		a.ResourceUpdated("x:2")
		a.ResourceUpdated(strings.Repeat("x", bounds.URIBytes+1))
		same(t, "an update, and one whose URI is too long", []string{"resource x:2"}, h.heard())
	})
}

// A server that is gone tells nothing late, nor does one whose hub is closed.
func TestNothingIsToldOfAServerThatIsGone(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		gone, late := h.budgets.Of("gone"), h.budgets.Of("late")
		for _, a := range []*allowance.Allowance{gone, late} {
			for range bounds.NoticeBurst + 1 {
				a.ResourcesChanged()
			}
			for range bounds.LogBurst + 1 {
				a.Stderr("x")
			}
		}
		h.heard()
		h.Update(gone.Close)
		time.Sleep(time.Minute)
		same(t, "of the other server", []string{"logMessagesDropped 1", "resources of late"}, h.heard())
		late.ResourcesChanged()
		for range bounds.LogBurst + 1 {
			late.Stderr("x")
		}
		h.heard()
		h.Update(func() { h.closed = true })
		time.Sleep(time.Minute)
		same(t, "a minute later", nil, h.heard())
	})
}

func question(bytes int) *mcp.Question {
	return &mcp.Question{Payload: json.RawMessage(strings.Repeat("x", bytes))}
}

// admit asks, and says what became of it.
func admit(t *testing.T, a *allowance.Allowance, q *mcp.Question) (release func(), what string) {
	t.Helper()
	release, refused, err := a.Admit(q, event.PromptElicitationForm)
	switch {
	case err != nil:
		bound, ok := err.(*mcp.BoundError)
		if !ok || bound.Code != jsonrpc.CodeTooManyRequests || release != nil || refused != nil {
			t.Errorf("a bound gave %v, %v", refused, err)
		}
		return nil, "bound: " + err.Error()
	case refused != nil:
		if release != nil {
			t.Error("what was refused may be asked")
		}
		return nil, fmt.Sprint(refused.Action)
	}
	return release, "asked"
}

// A question takes room in memory until it is over. One that finds none is refused, and people are told why, but not
// each time; nobody else's room is touched.
func TestQuestionsTakeRoom(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		a, other := h.budgets.Of("s"), h.budgets.Of("other")
		release, what := admit(t, a, question(bounds.ServerQuestionBytes*3/4))
		if what != "asked" {
			t.Fatalf("the first question: %s", what)
		}
		for range 3 * bounds.ComplaintBurst {
			if _, what = admit(t, a, question(bounds.ServerQuestionBytes/2)); !strings.HasPrefix(what, "bound: ") {
				t.Fatalf("one too large beside it: %s", what)
			}
		}
		if got := h.heard(); len(got) != bounds.ComplaintBurst || got[0] != "questionTooLarge" {
			t.Errorf("told %d times: %q", len(got), got)
		}
		freed, what := admit(t, other, question(bounds.ServerQuestionBytes/2))
		if what != "asked" {
			t.Errorf("another server's question: %s", what)
		}
		freed()
		release()
		if release, what = admit(t, a, question(bounds.ServerQuestionBytes/2)); what != "asked" {
			t.Errorf("after the first is over: %s", what)
		}
		release()
		if n := a.Questions.Held() + other.Questions.Held(); n != 0 {
			t.Errorf("%d bytes are held by nothing", n)
		}
	})
}

// The questions of a server are bounded per second. Each call of it may bring questions of its own.
func TestQuestionsAreBoundedInTime(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		a := h.budgets.Of("s")
		ask := func(n int) (asked int) {
			for range n {
				if release, what := admit(t, a, question(0)); what == "asked" {
					asked++
					release()
				}
			}
			return asked
		}
		if n := ask(bounds.QuestionBurst + 5); n != bounds.QuestionBurst {
			t.Errorf("%d questions at once, want %d", n, bounds.QuestionBurst)
		}
		if got := h.heard(); len(got) != 5 || got[0] != "questionsTooFast" {
			t.Errorf("told %q", got)
		}
		h.Update(a.Called)
		if n := ask(2 * bounds.QuestionsPerCall); n != bounds.QuestionsPerCall {
			t.Errorf("%d questions of a call, want %d", n, bounds.QuestionsPerCall)
		}
		time.Sleep(time.Second)
		if n := ask(2 * bounds.QuestionRate); n != bounds.QuestionRate {
			t.Errorf("%d questions a second later, want %d", n, bounds.QuestionRate)
		}
	})
}

// After some refusals in a row a server has to wait before it may ask, twice as long after each further one. A yes or a
// call ends that; a question that ends without a choice changes nothing.
func TestRefusalsInARow(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		a := h.budgets.Of("s")
		settle := func(causes ...event.PromptCause) {
			h.Update(func() {
				for _, cause := range causes {
					a.Settled(cause)
				}
			})
		}
		is := func(what, want string) {
			t.Helper()
			release, got := admit(t, a, question(0))
			if got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
			if release != nil {
				release()
			}
		}
		no, dismissed := event.CauseDeclined, fmt.Sprint(mcp.Dismiss)
		for range bounds.RefusalsFree {
			settle(no)
			is("a no that is free", "asked")
		}
		pause := bounds.RefusalPause
		for range 12 {
			settle(event.CauseDismissed)
			time.Sleep(pause - time.Millisecond)
			is(fmt.Sprintf("just before %v", pause), dismissed)
			settle(event.CauseWithdrawn, event.CauseTimeout, event.CauseParent)
			time.Sleep(time.Millisecond)
			is(fmt.Sprintf("after %v", pause), "asked")
			pause = min(2*pause, bounds.RefusalMaxPause)
		}
		settle(no)
		is("at once", dismissed)
		settle(event.CauseAnswered)
		is("after a yes", "asked")
		settle(no, no, no)
		is("noes are counted anew after a yes", "asked")
		settle(no)
		is("one more", dismissed)
		h.Update(a.Called)
		is("after a call", "asked")
	})
}

// The questions of a muted server are declined, whoever calls it, until the person unmutes it.
func TestMute(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		a := h.budgets.Of("s")
		mute := func(muted, want bool) {
			t.Helper()
			h.Update(func() {
				if changed := a.Mute(muted); changed != want || a.Muted() != muted {
					t.Errorf("Mute(%v) = %v; it is muted: %v", muted, changed, a.Muted())
				}
			})
		}
		mute(false, false)
		mute(true, true)
		mute(true, false)
		h.Update(a.Called)
		if _, what := admit(t, a, question(0)); what != fmt.Sprint(mcp.Decline) {
			t.Errorf("muted: %s", what)
		}
		if n := a.Questions.Held(); n != 0 {
			t.Errorf("%d bytes are held of what nobody was asked", n)
		}
		h.Update(func() {
			for range bounds.RefusalsFree + 1 {
				a.Settled(event.CauseDeclined)
			}
		})
		mute(false, true)
		release, what := admit(t, a, question(0))
		if what != "asked" {
			t.Fatalf("after that: %s", what)
		}
		release()
	})
}

// A result is held until the caller's context ends, or is released at once where there is nobody to hand it to. One
// that comes after another takes its place.
func TestResultHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := map[string]int{}
		var mu sync.Mutex
		hold := func(what string) func() {
			return func() {
				mu.Lock()
				defer mu.Unlock()
				over[what]++
			}
		}
		is := func(when string, want map[string]int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(want, over); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var k allowance.ResultHold
		k.Until(ctx, true) // no result: nothing to end
		k.Set(hold("a round"))
		k.Set(hold("the result"))
		is("after a round", map[string]int{"a round": 1})
		k.Until(ctx, true)
		is("in the caller's hand", map[string]int{"a round": 1})
		cancel(errors.New("sent"))
		is("sent", map[string]int{"a round": 1, "the result": 1})

		var failed, endless allowance.ResultHold
		failed.Set(hold("of a failure"))
		failed.Until(t.Context(), false)
		endless.Set(hold("for a context without an end"))
		endless.Until(context.Background(), true)
		is("of nobody", map[string]int{"a round": 1, "the result": 1, "of a failure": 1, "for a context without an end": 1})
	})
}
