package mcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// The questions in one answer of a modern server are bounded in number and in bytes, and no key may occur twice: else
// nobody is asked, and the call fails. Finding A4.
func TestQuestionsOfOneAnswerAreBounded_amount(t *testing.T) {
	many := func(n int) string {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(`"k%d":%s`, i, formInput)
		}
		return "{" + strings.Join(entries, ",") + "}"
	}
	large := func(bytes int) string {
		return `{"k":` + formInput + `,"pad":` + inputEntry(protocol.MethodRoots, `{"x":"`+strings.Repeat("x", bytes)+
			`"}`) + `}`
	}
	for name, c := range map[string]struct {
		requests, want string // part of the error; "" = they are asked
		questions      int
	}{
		"as many as may be":  {many(bounds.RoundQuestions), "", bounds.RoundQuestions},
		"one more":           {many(bounds.RoundQuestions + 1), "more than 64", 0},
		"as large as may be": {large(bounds.RoundBytes - len(large(0))), "", 1},
		"a byte more":        {large(bounds.RoundBytes - len(large(0)) + 1), "8 MiB", 0},
		"a long key":         {`{"` + strings.Repeat("k", bounds.InputKeyBytes+1) + `":` + formInput + `}`, "1 KiB", 0},
		"a key twice":        {`{"k":` + formInput + `,"\u006b":` + samplingInput + `}`, "twice", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, rounds := &recorder{ask: accepting(`{}`)}, 0
				_, s := modern(t, h, func(call *fakeserver.CallContext) {
					if rounds++; rounds > 1 {
						call.Text("thanks")
						return
					}
					call.InputRequired(c.requests, "")
				})
				_, err := s.CallTool(background, &CallRequest{Name: "t"})
				wrong, is := errors.AsType[*ProtocolError](err)
				if (err == nil) != (c.want == "") || c.want != "" && (!is || !strings.Contains(wrong.Text, c.want)) {
					t.Errorf("%v", err)
				}
				if n := len(h.questions()); n != c.questions {
					t.Errorf("%d questions, want %d", n, c.questions)
				}
			})
		})
	}
}

// A task may ask something new with each poll. Its keys are kept, so there is a bound on them: beyond it the task is
// cancelled, and its open questions are withdrawn. Finding A4.
func TestQuestionsOfATaskAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, polls := newTaskServer("", ""), 0
		f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) {
			polls++
			var entries []string
			for i := range bounds.RoundQuestions {
				entries = append(entries, fmt.Sprintf(`"%d-%d":%s`, polls, i, inputEntry(protocol.MethodRoots, "{}")))
			}
			c.Result(`{"taskId":"T-1",` + askingTaskInput(entries...) + `}`)
		})
		s := connect(t, f.Server, &recorder{})
		out, _ := runningTask(t, f, s, &told{})
		pass(time.Minute)
		o := finished(t, out)
		if wrong, ok := errors.AsType[*ProtocolError](o.err); !ok ||
			!strings.Contains(wrong.Text, "more than 1024 questions") {
			t.Errorf("the call ended with %v", o.err)
		}
		if want := bounds.TaskQuestions/bounds.RoundQuestions + 1; polls != want {
			t.Errorf("%d polls, want %d", polls, want)
		}
		nothingLeft(t, s)
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 {
			t.Errorf("tasks/cancel %q", ids)
		}
	})
}

// A list entry that is too long is left out, and the other entries stay. Finding A5.
func TestEntriesOfListsAreBounded_amount(t *testing.T) {
	for _, l := range lists {
		t.Run(l.method, func(t *testing.T) {
			bothEras(t, func(t *testing.T, f *fakeserver.Server) {
				entry := l.entry("at the bound")
				pad := func(n int) string {
					const member = `,"x":""`
					return entry[:len(entry)-1] + `,"x":"` + strings.Repeat("x", n-len(entry)-len(member)) + `"}`
				}
				f.Handle(l.method, func(c *fakeserver.CallContext) {
					c.Result(`{"resultType":"complete","` + l.member + `":[` + l.entry("first") + `,` +
						strings.Replace(pad(bounds.EntryBytes+1), "at the bound", "0ver the bnd", 1) + `,` + pad(bounds.EntryBytes) +
						`]}`)
				})
				s := connect(t, f, &recorder{})
				names, err := l.list(background, s)
				if err != nil || len(names) != 2 || names[0] != "first" || names[1] != "at the bound" {
					t.Errorf("%q, %v", names, err)
				}
			})
		})
	}
}

// The name, version and instructions of a server are cut, between characters. Capabilities cannot be cut, so they are
// left out: the flags that were read from them still hold, what only their text says (tasks) does not. Finding A4.
func TestWhatAServerSaysOfItselfIsBounded(t *testing.T) {
	long := strings.Repeat("é", bounds.InstructionsBytes)
	for era, option := range map[string]fakeserver.Option{
		"legacy": fakeserver.WithRevision(Revision20251125), "modern": fakeserver.WithModern(),
	} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := connect(t, fakeserver.New(option, fakeserver.WithName(long, long), fakeserver.WithInstructions(long),
					fakeserver.WithCapabilities(`{"tools":{},"experimental":{"x":"`+long+`"}}`)), &recorder{})
				info := s.Info()
				for what, c := range map[string]struct {
					text string
					most int
				}{
					"name": {info.Name, bounds.NameBytes}, "version": {info.Version, bounds.NameBytes},
					"instructions": {info.Instructions, bounds.InstructionsBytes},
				} {
					if n := len(c.text); n > c.most || n < c.most-4 || !utf8.ValidString(c.text) ||
						!strings.HasSuffix(c.text, "(cut)") {
						t.Errorf("%s of %d bytes", what, n)
					}
				}
				if len(info.Capabilities) != 0 || !info.HasTools {
					t.Errorf("%d bytes of capabilities, tools: %v", len(info.Capabilities), info.HasTools)
				}
			})
		})
	}
}
