package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// allowanceWorld is a hub with a window that is told what servers say.
type allowanceWorld struct {
	*inside
	view *view
}

func inAllowanceWorld(t *testing.T, f func(t *testing.T, h *allowanceWorld)) {
	t.Helper()
	inBubble(t, func(t *testing.T, h *inside) { f(t, &allowanceWorld{h, h.attach(Hello{})}) })
}

// heard gives what the windows were told since it was asked last, once nothing moves: of the hub's own notes their
// names and counts, of the others their kinds.
func (h *allowanceWorld) heard() (list []string) {
	for _, e := range h.view.heard() {
		list = append(list, noticeWords(e.Body))
	}
	return list
}

func noticeWords(b event.Body) string {
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

func sameTexts(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Log messages and stderr lines pass without secrets and cut to a length, also when it is escapes that make them long.
func TestLogMessages(t *testing.T) {
	inAllowanceWorld(t, func(t *testing.T, h *allowanceWorld) {
		a := h.budgets.of("s")
		a.Logged(mcp.LogMessage{Level: "info", Logger: "main", Data: json.RawMessage(`{"a": 1.0}`)})
		a.Logged(mcp.LogMessage{Level: secret, Logger: secret, Data: json.RawMessage(`{"a":"` + secret + `"}`)})
		a.stderr("a \"line\"\x07")
		got := h.heard()
		if len(got) != 3 || got[0] != `info main {"a": 1.0}` || strings.Contains(got[1], secret) ||
			got[2] != `stderr  "a \"line\"\u0007"` {
			t.Errorf("told %q", got)
		}
		long := strings.Repeat("x\"\\", bounds.LogTextBytes)
		a.Logged(mcp.LogMessage{Level: long, Logger: long, Data: json.RawMessage(`"` + strings.Repeat(`\u0000`,
			bounds.LogTextBytes) + `"`)})
		m := h.view.heard()[0].Body.(*event.LogMessage)
		if !json.Valid([]byte(m.Data)) || len(m.Data) > bounds.LogTextBytes || len(m.Level) > 2*bounds.NameBytes ||
			len(m.Logger) > 2*bounds.NameBytes || m.Own {
			t.Errorf("level of %d, logger of %d, data of %d bytes", len(m.Level), len(m.Logger), len(m.Data))
		}
	})
}

// A server that logs too much loses what goes beyond its burst. How much that was is told before the next message, or
// a second later when none comes; another server loses nothing.
func TestLogsAreBounded(t *testing.T) {
	inAllowanceWorld(t, func(t *testing.T, h *allowanceWorld) {
		a, other := h.budgets.of("s"), h.budgets.of("other")
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
		sameTexts(t, "of another server", []string{"info  2"}, h.heard())
		time.Sleep(time.Second / bounds.LogRate)
		say(2)
		sameTexts(t, "the next one", []string{"logMessagesDropped 7", "info  1"}, h.heard())
		time.Sleep(2 * time.Second)
		sameTexts(t, "a second later", []string{"logMessagesDropped 1"}, h.heard())
		time.Sleep(time.Hour)
		sameTexts(t, "an hour later", nil, h.heard())
	})
}

// Notices that do not pass are told once, each kind, a second later: a list must not stay out of date for ever.
func TestNoticesAreBounded(t *testing.T) {
	inAllowanceWorld(t, func(t *testing.T, h *allowanceWorld) {
		a, outdated := h.budgets.of("s"), 0
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
		sameTexts(t, "beyond the burst", nil, h.heard())
		if outdated != bounds.NoticeBurst+3 {
			t.Errorf("the kept tools were out of date %d times, want %d", outdated, bounds.NoticeBurst+3)
		}
		time.Sleep(2 * time.Second)
		sameTexts(t, "a second later",
			[]string{"tools of s", "resources of s", "prompts of s", "noticesDropped 12"}, h.heard())
		a.ResourceUpdated("x:2")
		a.ResourceUpdated(strings.Repeat("x", bounds.URIBytes+1))
		sameTexts(t, "an update, and one whose URI is too long", []string{"resource x:2"}, h.heard())
	})
}

// A server that is gone tells nothing late, nor does one whose hub is closed.
func TestNothingIsToldOfAServerThatIsGone(t *testing.T) {
	inAllowanceWorld(t, func(t *testing.T, h *allowanceWorld) {
		gone, late := h.budgets.of("gone"), h.budgets.of("late")
		for _, a := range []*allowance{gone, late} {
			for range bounds.NoticeBurst + 1 {
				a.ResourcesChanged()
			}
			for range bounds.LogBurst + 1 {
				a.stderr("x")
			}
		}
		h.heard()
		h.within(gone.close)
		time.Sleep(time.Minute)
		sameTexts(t, "of the other server", []string{"logMessagesDropped 1", "resources of late"}, h.heard())
		late.ResourcesChanged()
		for range bounds.LogBurst + 1 {
			late.stderr("x")
		}
		h.heard()
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		sameTexts(t, "a minute later", nil, h.heard())
	})
}

func sizedQuestion(bytes int) *mcp.Question {
	return &mcp.Question{Payload: json.RawMessage(strings.Repeat("x", bytes))}
}

// admit asks, and says what became of it.
func admit(t *testing.T, a *allowance, q *mcp.Question) (release func(), what string) {
	t.Helper()
	release, refused, err := a.admit(q, event.PromptElicitationForm)
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
	t.Parallel()
	inAllowanceWorld(t, func(t *testing.T, h *allowanceWorld) {
		a, other := h.budgets.of("s"), h.budgets.of("other")
		release, what := admit(t, a, sizedQuestion(bounds.ServerQuestionBytes*3/4))
		if what != "asked" {
			t.Fatalf("the first question: %s", what)
		}
		for range 3 * bounds.ComplaintBurst {
			if _, what = admit(t, a, sizedQuestion(bounds.ServerQuestionBytes/2)); !strings.HasPrefix(what, "bound: ") {
				t.Fatalf("one too large beside it: %s", what)
			}
		}
		if got := h.heard(); len(got) != bounds.ComplaintBurst || got[0] != "questionTooLarge" {
			t.Errorf("told %d times: %q", len(got), got)
		}
		freed, what := admit(t, other, sizedQuestion(bounds.ServerQuestionBytes/2))
		if what != "asked" {
			t.Errorf("another server's question: %s", what)
		}
		freed()
		release()
		if release, what = admit(t, a, sizedQuestion(bounds.ServerQuestionBytes/2)); what != "asked" {
			t.Errorf("after the first is over: %s", what)
		}
		release()
		if n := a.questions.Held() + other.questions.Held(); n != 0 {
			t.Errorf("%d bytes are held by nothing", n)
		}
	})
}

// The questions of a server are bounded per second. Each call of it may bring questions of its own.
func TestQuestionsAreBoundedInTime(t *testing.T) {
	inAllowanceWorld(t, func(t *testing.T, h *allowanceWorld) {
		a := h.budgets.of("s")
		ask := func(n int) (asked int) {
			for range n {
				if release, what := admit(t, a, sizedQuestion(0)); what == "asked" {
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
		h.within(a.called)
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
	inAllowanceWorld(t, func(t *testing.T, h *allowanceWorld) {
		a := h.budgets.of("s")
		settle := func(causes ...event.PromptCause) {
			h.within(func() {
				for _, cause := range causes {
					a.settled(cause)
				}
			})
		}
		is := func(what, want string) {
			t.Helper()
			release, got := admit(t, a, sizedQuestion(0))
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
		h.within(a.called)
		is("after a call", "asked")
	})
}

// The questions of a muted server are declined, whoever calls it, until the person unmutes it.
func TestMute(t *testing.T) {
	inAllowanceWorld(t, func(t *testing.T, h *allowanceWorld) {
		a := h.budgets.of("s")
		mute := func(muted, want bool) {
			t.Helper()
			h.within(func() {
				if changed := a.mute(muted); changed != want || a.muted() != muted {
					t.Errorf("Mute(%v) = %v; it is muted: %v", muted, changed, a.muted())
				}
			})
		}
		mute(false, false)
		mute(true, true)
		mute(true, false)
		h.within(a.called)
		if _, what := admit(t, a, sizedQuestion(0)); what != fmt.Sprint(mcp.Decline) {
			t.Errorf("muted: %s", what)
		}
		if n := a.questions.Held(); n != 0 {
			t.Errorf("%d bytes are held of what nobody was asked", n)
		}
		h.within(func() {
			for range bounds.RefusalsFree + 1 {
				a.settled(event.CauseDeclined)
			}
		})
		mute(false, true)
		release, what := admit(t, a, sizedQuestion(0))
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
		var k resultHold
		k.until(ctx, true) // no result: nothing to end
		k.set(hold("a round"))
		k.set(hold("the result"))
		is("after a round", map[string]int{"a round": 1})
		k.until(ctx, true)
		is("in the caller's hand", map[string]int{"a round": 1})
		cancel(errors.New("sent"))
		is("sent", map[string]int{"a round": 1, "the result": 1})

		var failed, endless resultHold
		failed.set(hold("of a failure"))
		failed.until(t.Context(), false)
		endless.set(hold("for a context without an end"))
		endless.until(context.Background(), true)
		is("of nobody", map[string]int{"a round": 1, "the result": 1, "of a failure": 1, "for a context without an end": 1})
	})
}
