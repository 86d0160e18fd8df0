package ipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestHelloExpected(t *testing.T) {
	first := map[string]*mcphubv1.AttachRequest{
		"another message": cancelMessage("1", "r"),
		"nothing":         {},
		"half-close":      nil,
	}
	for name, message := range first {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &fakeHub{}
				stream, err := mcphubv1.NewEditorServiceClient(serve(t, h, Options{})).Attach(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if message != nil {
					_ = stream.Send(message)
				} else {
					_ = stream.CloseSend()
				}
				_, err = stream.Recv()
				if status.Code(err) != codes.InvalidArgument || reasonOf(err) != reasonHelloExpected {
					t.Errorf("got %v (reason %q), want INVALID_ARGUMENT HELLO_EXPECTED", err, reasonOf(err))
				}
				if len(h.windows) != 0 {
					t.Error("a window was attached")
				}
			})
		})
	}
}

func TestInvalidHelloRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		_, err := fakeeditor.Attach(t.Context(), serve(t, h, Options{}), fakeeditor.Options{TB: t, MaxProgressRate: 21})
		if status.Code(err) != codes.InvalidArgument || reasonOf(err) != event.ReasonInvalidRequest ||
			!strings.Contains(err.Error(), "hello.max_progress_rate") {
			t.Errorf("got %v, want INVALID_ARGUMENT INVALID_REQUEST that names hello.max_progress_rate", err)
		}
		if len(h.windows) != 0 {
			t.Error("a window was attached")
		}
	})
}

func TestAttachRefusedByHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{attach: func(hub.Hello, hub.Sink) (*hub.WindowStart, error) {
			return nil, &event.Error{Code: event.CodeAlreadyExists, Reason: event.ReasonWindowIDInUse, Message: "in use"}
		}}
		_, err := fakeeditor.Attach(t.Context(), serve(t, h, Options{}), fakeeditor.Options{TB: t})
		if status.Code(err) != codes.AlreadyExists || reasonOf(err) != event.ReasonWindowIDInUse {
			t.Errorf("got %v, want ALREADY_EXISTS WINDOW_ID_IN_USE", err)
		}
	})
}

// What is delivered between the registration and the first send must follow the snapshot.
func TestStartComesBeforeEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{attach: func(hello hub.Hello, sink hub.Sink) (*hub.WindowStart, error) {
			sink.Deliver(event.Event{Seq: 8, Body: started("early")})
			return &hub.WindowStart{Snapshot: &event.Snapshot{Requests: []event.RequestInfo{{ID: "shown"}}}}, nil
		}}
		w := fakeeditor.Open(t.Context(), serve(t, h, Options{}), fakeeditor.Options{TB: t, ID: "w", Title: "side bar",
			SamplingTools: true})
		w.WaitRequest("early", mcphubv1.RequestState_REQUEST_STATE_RUNNING)
		if got := shape(w.Events()); got != "welcome snapshot started" {
			t.Errorf("got %s", got)
		}
		hello := h.window(0).hello
		want := hub.Hello{WindowID: "w", Title: "side bar", SamplingTools: true, Kinds: []event.PromptKind{
			event.PromptToolApproval, event.PromptSampling, event.PromptElicitationForm, event.PromptElicitationURL,
			event.PromptSignIn,
			event.PromptServerLaunch, event.PromptConfigInput,
		}}
		if diff := cmp.Diff(want, hello); diff != "" {
			t.Errorf("hello (-want +got):\n%s", diff)
		}
		if w.ID() != "w" || w.HubID() != "hub-1" {
			t.Errorf("welcome names window %q of hub %q", w.ID(), w.HubID())
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestRepliesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{answer: func(a event.PromptAnswer) error {
			return &event.Error{Code: event.CodeNotFound, Reason: event.ReasonPromptClosed, Message: "too late"}
		}}
		stream, err := mcphubv1.NewEditorServiceClient(serve(t, h, Options{})).Attach(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hello := &mcphubv1.AttachRequest{MessageId: "hello", Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{}}}
		messages := []*mcphubv1.AttachRequest{
			hello,
			cancelMessage("1", "a"),
			cancelMessage("", "silent"),
			cancelMessage("2", "over"),
			{MessageId: "3", Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: &mcphubv1.PromptAnswer{PromptId: "p",
				Action: &mcphubv1.PromptAnswer_Dismiss{}}}},
			{MessageId: "4"},
			cancelMessage("5", ""),
			{MessageId: "6",
				Message: &mcphubv1.AttachRequest_SetRoots{
					SetRoots: &mcphubv1.SetRoots{Roots: []*mcphubv1.Root{{Uri: "file:///x"}}}}},
			{MessageId: "7", Message: hello.GetMessage()},
			{MessageId: "8",
				Message: &mcphubv1.AttachRequest_SetCapabilities{
					SetCapabilities: &mcphubv1.SetCapabilities{
						PromptKinds: []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_SAMPLING}}}},
		}
		for _, m := range messages {
			if err := stream.Send(m); err != nil {
				t.Fatal(err)
			}
		}
		_ = stream.CloseSend()
		var got []string
		for {
			m, err := stream.Recv()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("the stream ended with %v", err)
				}
				break
			}
			if r := m.GetReply(); r != nil {
				got = append(got, fmt.Sprintf("%s %v %s", r.GetMessageId(), r.GetCancelOutcome().Number(),
					r.GetError().GetReason()))
			}
		}
		want := []string{"hello 0 ", "1 1 ", "2 2 ", "3 0 PROMPT_CLOSED", "4 0 INVALID_REQUEST", "5 0 INVALID_REQUEST",
			"6 0 ", "7 0 INVALID_REQUEST", "8 0 "}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("replies (-want +got):\n%s", diff)
		}
		actions := []string{"cancel a ", "cancel silent ", "cancel over ", "answer p", "root file:///x", "kind sampling"}
		if diff := cmp.Diff(actions, h.window(0).actions); diff != "" {
			t.Errorf("what the hub was asked (-want +got):\n%s", diff)
		}
	})
}

func TestCleanCloseDetachesFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		w := fakeeditor.Open(t.Context(), serve(t, h, Options{}), fakeeditor.Options{TB: t})
		h.emit(started("r"))
		h.emit(progressed("r", 1))
		synctest.Wait()
		h.emit(progressed("r", 2)) // held back by the rate limit, sent before the end all the same
		if err := w.Close(); err != nil {
			t.Errorf("a clean close ended with %v, want OK", err)
		}
		synctest.Wait()
		if got := h.window(0).detached(); len(got) == 0 || !got[0] {
			t.Errorf("Detach calls %v, want the first to be final", got)
		}
		if got := shape(w.Events()); got != "welcome snapshot started progress progress" {
			t.Errorf("got %s", got)
		}
	})
}

func TestBrokenStreamDetachesNotFinal(t *testing.T) {
	breaks := map[string]func(w *fakeeditor.Window, conn interface{ Close() error }){
		"stream":     func(w *fakeeditor.Window, _ interface{ Close() error }) { w.Break() },
		"connection": func(_ *fakeeditor.Window, conn interface{ Close() error }) { _ = conn.Close() },
	}
	for name, snap := range breaks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &fakeHub{}
				conn := serve(t, h, Options{})
				w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
				snap(w, conn)
				if err := w.Wait(); status.Code(err) != codes.Canceled {
					t.Errorf("the editor saw %v, want its own cancel", err)
				}
				synctest.Wait()
				got := h.window(0).detached()
				if len(got) == 0 || got[0] {
					t.Errorf("Detach calls %v, want the first not to be final", got)
				}
			})
		})
	}
}

// A window that comes back says to which hub, and is sent a snapshot again.
func TestWindowComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		conn := serve(t, h, Options{})
		before := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t, ID: "w"})
		h.emit(started("r"))
		h.emit(started("other"))
		before.WaitRequest("other", mcphubv1.RequestState_REQUEST_STATE_RUNNING)
		before.Break()
		synctest.Wait()
		h.attach = func(hello hub.Hello, _ hub.Sink) (*hub.WindowStart, error) {
			if hello.WindowID != "w" || hello.ComesBackTo != "hub-1" || hello.MaxHistory != 1000 {
				t.Errorf("hello %+v", hello)
			}
			return &hub.WindowStart{
				Snapshot: &event.Snapshot{Requests: []event.RequestInfo{{ID: "other"}},
					History: []event.Ended{{Body: finished("r")}}},
				Events: []event.Event{{Seq: 5, Body: finished("other")}},
			}, nil
		}
		after := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t, Back: before})
		after.WaitTerminal("r")
		after.WaitTerminal("other")
		if got := shape(after.Events()); got != "welcome snapshot finished" {
			t.Errorf("got %s", got)
		}
	})
}

func TestHubEndsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		w := fakeeditor.Open(t.Context(), serve(t, h, Options{}), fakeeditor.Options{TB: t})
		h.emit(started("r"))
		h.emit(finished("r"))
		h.window(0).sink.Closed(&event.Error{Code: event.CodeUnavailable, Reason: event.ReasonDraining,
			Message: "shutting down"})
		if err := w.Wait(); status.Code(err) != codes.Unavailable || reasonOf(err) != event.ReasonDraining {
			t.Errorf("got %v, want UNAVAILABLE DRAINING", err)
		}
		w.WaitTerminal("r") // earlier events were sent first
	})
}

func TestSlowWindowDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		conn := serve(t, h, Options{})
		stream := deaf(t, conn)
		synctest.Wait()
		for range bounds.WindowQueue + 2000 {
			h.emit(&event.ServerChanged{Server: event.ServerInfo{Name: strings.Repeat("x", 1000)}})
		}
		synctest.Wait()
		if got := h.window(0).detached(); len(got) == 0 || got[0] {
			t.Fatalf("Detach calls %v, want one that is not final", got)
		}
		var err error
		events := 0
		for ; err == nil; events++ { // what was sent before can still be read, then the status
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.ResourceExhausted || reasonOf(err) != event.ReasonWindowTooSlow {
			t.Errorf("got %v, want RESOURCE_EXHAUSTED WINDOW_TOO_SLOW", err)
		}
		if events > 2000 {
			t.Errorf("%d events came although the window was ended", events)
		}
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t}) // and a new start works
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSlowWindowSlowsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		conn := serve(t, h, Options{})
		deaf(t, conn)
		synctest.Wait()
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		begin := time.Now()
		const n = 6000 // fewer than end the slow window
		for range n {
			h.emit(&event.ServerChanged{Server: event.ServerInfo{Name: strings.Repeat("x", 1000)}})
		}
		synctest.Wait()
		changed := 0
		for _, e := range w.Events() {
			if e.GetServerChanged() != nil {
				changed++
			}
		}
		if changed != n {
			t.Errorf("the quick window got %d of %d events", changed, n)
		}
		if took := time.Since(begin); took != 0 { // fake time: it stands still while any goroutine can run
			t.Errorf("it had to wait %v for the slow one", took)
		}
		if len(h.window(0).detached()) != 0 {
			t.Error("the slow window was ended already: it proves nothing")
		}
	})
}

// deaf attaches a window that never reads.
func deaf(t *testing.T, conn grpc.ClientConnInterface) grpc.BidiStreamingClient[mcphubv1.AttachRequest,
	mcphubv1.AttachResponse] {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	stream, err := mcphubv1.NewEditorServiceClient(conn).Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(
		&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{}}}); err != nil {
		t.Fatal(err)
	}
	return stream
}

// shape names events in order.
func shape(events []*mcphubv1.AttachResponse) string {
	var names []string
	for _, e := range events {
		name := "?"
		switch e.GetEvent().(type) {
		case *mcphubv1.AttachResponse_Welcome:
			name = "welcome"
		case *mcphubv1.AttachResponse_Snapshot:
			name = "snapshot"
		case *mcphubv1.AttachResponse_Reply:
			name = "reply"
		case *mcphubv1.AttachResponse_McpRequestStarted:
			name = "started"
		case *mcphubv1.AttachResponse_McpRequestProgressed:
			name = "progress"
		case *mcphubv1.AttachResponse_McpRequestCancelling:
			name = "cancelling"
		case *mcphubv1.AttachResponse_McpRequestCancelled:
			name = "cancelled"
		case *mcphubv1.AttachResponse_McpRequestFinished:
			name = "finished"
		case *mcphubv1.AttachResponse_LogMessage:
			name = "log"
		case *mcphubv1.AttachResponse_Dropped:
			name = "dropped"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}
