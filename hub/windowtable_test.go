package hub

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// emits sends the windows the end of a request.
func (h *inside) emits(id string) {
	h.update(func(st *state) { st.emit(&event.RequestFinished{RequestID: id}) })
}

// helloOf is the hello of a window that shows these kinds.
func helloOf(id string, kinds ...event.PromptKind) Hello { return Hello{WindowID: id, Kinds: kinds} }

// texts gives a short text for each event about a prompt or an end.
func texts(events []event.Event) (list []string) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case *event.PromptOpened:
			list = append(list, fmt.Sprintf("? %s", b.Prompt.Kind))
		case *event.RequestFinished:
			list = append(list, "finished "+b.RequestID)
		}
	}
	return list
}

// wantTexts checks what a window was told since it was asked last, and that the numbers grow.
func wantTexts(t *testing.T, what string, v *view, want ...string) {
	t.Helper()
	events := v.heard()
	if diff := cmp.Diff(want, texts(events)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	for i := 1; i < len(events); i++ {
		if events[i].Seq <= events[i-1].Seq {
			t.Errorf("%s: event %d follows event %d", what, events[i].Seq, events[i-1].Seq)
		}
	}
}

// A window that comes back gets a snapshot, which has the ends that it missed, and then each event once. Its attachment
// of before is told nothing more.
func TestReturn(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		h.emits("r0")
		hello := helloOf("a")
		a := h.attach(hello)
		h.emits("r1")
		wantTexts(t, "attached", a, "finished r1")
		a.Detach(false)
		h.emits("r2")

		hello.MaxHistory, hello.ComesBackTo = 2, h.ID()
		back := h.attach(hello)
		var missed []event.Event
		for _, e := range back.start.Snapshot.History {
			missed = append(missed, event.Event{Body: e.Body})
		}
		if diff := cmp.Diff([]string{"finished r1", "finished r2"}, texts(missed)); diff != "" {
			t.Errorf("the history (-want +got):\n%s", diff)
		}
		h.emits("r3")
		wantTexts(t, "after the start", back, "finished r3")
		if wantTexts(t, "the attachment of before", a); len(a.ends) != 0 {
			t.Errorf("it was closed with %v", a.ends)
		}
	})
}

// Two streams of one id: the second is refused, unless it knows what only the first can know.
func TestSecondStreamOfAWindow(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		a := h.attach(helloOf("a"))
		for _, hello := range []Hello{helloOf("a"), {WindowID: "a", ComesBackTo: "hub-0"}} {
			_, err := h.try(hello)
			wantReason(t, err, event.ReasonWindowIDInUse)
		}
		h.emits("r1")
		wantTexts(t, "still attached", a, "finished r1")
		b := h.attach(Hello{WindowID: "a", ComesBackTo: h.ID()})
		if len(a.ends) != 1 || a.ends[0].Reason != event.ReasonWindowSuperseded {
			t.Fatalf("the first stream ended with %v", a.ends)
		}
		h.emits("r2")
		wantTexts(t, "of the first", a)
		wantTexts(t, "of the second", b, "finished r2")
		a.SetRoots([]Root{{URI: "file:///1"}}) // it does not count as the window any more
		h.within(func() {
			if n := len(h.windows.allRoots()); n != 0 || h.windows.count() != 1 {
				t.Errorf("%d roots of %d windows", n, h.windows.count())
			}
		})
	})
}

// A question goes to the windows that show it, each time once; everything else to all. What a window declares anew is
// told once, also when it declares it twice, or takes it back and declares it again.
func TestWhoIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := fakeserver.New()
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
		none, form := h.attach(helloOf("none")), h.attach(helloOf("form", event.PromptElicitationForm))
		sampling := h.attach(helloOf("sampling", event.PromptSampling))
		gone := h.attach(helloOf("gone", event.PromptSampling))
		h.attach(Hello{WindowID: "tools", Kinds: []event.PromptKind{event.PromptSampling}, SamplingTools: true})
		if _, err := h.StartServer(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		gone.Detach(false)
		for _, v := range []*view{none, form, sampling, gone} {
			v.heard() // of the start
		}
		asks := func(method, params string) {
			if _, err := fake.Request(method, params); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		sample := `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5`
		asks("elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
		asks("sampling/createMessage", sample+`}`)
		asks("sampling/createMessage", sample+`,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
		h.emits("r")
		asked, sampled := "? "+event.PromptElicitationForm.String(), "? "+event.PromptSampling.String()
		wantTexts(t, "none", none, "finished r")
		wantTexts(t, "form", form, asked, "finished r")
		wantTexts(t, "sampling", sampling, sampled, "finished r")
		wantTexts(t, "gone", gone)

		kinds := []event.PromptKind{event.PromptElicitationForm, event.PromptSampling}
		form.SetCapabilities(kinds, true, nil)
		form.SetCapabilities(kinds, true, nil)
		form.SetCapabilities(append(kinds, 99, -1), true, nil)
		wantTexts(t, "declares more", form, sampled, sampled)
		form.SetCapabilities(nil, true, nil)
		asks("sampling/createMessage", sample+`}`)
		wantTexts(t, "shows nothing", form)
		wantTexts(t, "sampling", sampling, sampled)
	})
}

func TestWhatWindowsShow(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		a := h.attach(Hello{WindowID: "a", Kinds: []event.PromptKind{event.PromptSampling},
			Extensions: map[string]json.RawMessage{"ui": json.RawMessage(`1`)}})
		b := h.attach(Hello{WindowID: "b", SamplingTools: true,
			Extensions: map[string]json.RawMessage{"ui": json.RawMessage(`2`), "x": json.RawMessage(`3`)}})
		h.within(func() {
			c := h.windows.capabilities()
			if !c.Sampling || c.SamplingTools || c.ElicitationForm || c.ElicitationURL || !c.Roots {
				t.Errorf("capabilities %+v", c) // the kind is one window's, the tools are another's: nobody shows both
			}
			want := map[string]json.RawMessage{"ui": json.RawMessage(`1`), "x": json.RawMessage(`3`)}
			if diff := cmp.Diff(want, c.Extensions); diff != "" {
				t.Errorf("extensions (-want +got):\n%s", diff)
			}
		})
		a.Detach(false)
		h.within(func() {
			if c := h.windows.capabilities(); !c.Sampling || string(c.Extensions["ui"]) != "2" {
				t.Error("a question does not wait for a window that may come back, or its extensions count without it")
			}
		})
		b.Detach(true)
	})
}

// What windows are told when the hub is closed: each attached one its end, and nothing after that.
func TestCloseEndsWindows(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		var views []*view
		for _, id := range []string{"z", "a", "m"} {
			views = append(views, h.attach(helloOf(id)))
		}
		views[1].Detach(false)
		var ids []string
		h.within(func() {
			for _, w := range h.windows.inOrder() {
				ids = append(ids, w.ID())
			}
		})
		if diff := cmp.Diff([]string{"z", "a", "m"}, ids); diff != "" {
			t.Errorf("ids (-want +got):\n%s", diff)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
		for i, v := range views {
			if want := 1 - i%2; len(v.ends) != want || want == 1 && v.ends[0].Reason != event.ReasonDraining {
				t.Errorf("window %s was ended with %v", v.ID(), v.ends)
			}
		}
		h.emits("r") // nobody is told: view.Deliver panics
		_, err := views[0].takePlace()
		wantReason(t, err, event.ReasonWindowDetached)
		if _, err = h.try(helloOf("late")); event.AsError(err).Reason != event.ReasonDraining {
			t.Errorf("a window that comes late: %v", err)
		}
	})
}
