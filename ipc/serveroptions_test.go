package ipc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// logBook keeps log lines.
type logBook struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBook) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// lines returns the lines with a message.
func (l *logBook) lines(t *testing.T, msg string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(l.text()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if m["msg"] == msg {
			found = append(found, m)
		}
	}
	return found
}

func (l *logBook) options() Options {
	return Options{Logger: slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))}
}

// panicky is a fakeHub that panics in Servers and in Attach.
type panicky struct{ *fakeHub }

func (panicky) Servers() ([]event.ServerInfo, []event.ConfigProblem) { panic("secret of the hub") }

func (panicky) Attach(hub.Hello, hub.Sink) (window, *hub.WindowStart, error) {
	panic("secret of the hub")
}

func TestPanicHidden(t *testing.T) {
	calls := map[string]func(ctx context.Context, conn grpc.ClientConnInterface) error{
		"unary": func(ctx context.Context, conn grpc.ClientConnInterface) error {
			_, err := mcphubv1.NewMcpServerServiceClient(conn).ListServers(ctx, &mcphubv1.ListServersRequest{})
			return err
		},
		"stream": func(ctx context.Context, conn grpc.ClientConnInterface) error {
			stream, err := mcphubv1.NewEditorServiceClient(conn).Attach(ctx)
			if err == nil {
				_ = stream.Send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{}}})
				_, err = stream.Recv()
			}
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				book := &logBook{}
				conn := serve(t, panicky{&fakeHub{}}, book.options())
				for range 2 { // the process goes on
					err := call(t.Context(), conn)
					if s := status.Convert(err); s.Code() != codes.Internal || s.Message() != "internal error" ||
						reasonOf(err) != "INTERNAL" {
						t.Errorf("got %v, want INTERNAL, internal error", err)
					}
				}
				lines := book.lines(t, "panic")
				if len(lines) != 2 || lines[0]["value"] != "secret of the hub" ||
					!strings.Contains(lines[0]["stack"].(string), "panicky") {
					t.Errorf("the log has %v, want the panic with its stack", lines)
				}
			})
		})
	}
}

// The goroutine that sends is not the handler's, so the recovery interceptor does not see its panic.
func TestPanicOfSenderHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &logBook{}
		h := &fakeHub{}
		w := fakeeditor.Open(t.Context(), serve(t, h, book.options()), fakeeditor.Options{TB: t})
		h.emit((*event.PromptClosed)(nil))
		if err := w.Wait(); status.Code(err) != codes.Internal || status.Convert(err).Message() != "internal error" {
			t.Errorf("got %v, want INTERNAL, internal error", err)
		}
		if len(book.lines(t, "panic")) != 1 {
			t.Errorf("the log: %s", book.text())
		}
	})
}

func TestNoPayloadInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &logBook{}
		h := &fakeHub{
			call: func(_ context.Context, c hub.CallRequest) (*hub.CallResult, error) {
				switch c.Tool {
				case "ok":
					return &hub.CallResult{Result: json.RawMessage(`{"text":"SECRET"}`)}, nil
				case "refused":
					return nil, &event.Error{Code: event.CodeInvalidArgument, Reason: event.ReasonInvalidArguments,
						Message: "bad SECRET",
						Meta:    map[string]string{"server": "SECRET"}}
				}
				return nil, &event.Error{Code: event.CodeUnavailable, Reason: event.ReasonServerGone,
					Message: "SECRET", Err: errors.New("SECRET")}
			},
		}
		conn := serve(t, h, book.options())
		client := mcphubv1.NewMcpHubServiceClient(conn)
		for _, tool := range []string{"ok", "refused", "gone"} {
			_, _ = client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: tool,
				ArgumentsJson: `{"k":"SECRET"}`, TaskLabel: "SECRET", MetaJson: `"SECRET"`})
		}
		_, _ = client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", RequestId: "SECRET\x01"})
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t, Title: "SECRET"})
		h.failure = &event.Error{Code: event.CodeInvalidArgument, Reason: event.ReasonInvalidContent, Message: "SECRET"}
		w.Accept("p", `{"k":"SECRET"}`)
		_ = w.Close()
		synctest.Wait()
		if text := book.text(); strings.Contains(text, "SECRET") || strings.Contains(text, "peer.address") ||
			strings.Contains(text, "grpc.error") {
			t.Errorf("the log tells too much:\n%s", text)
		}
		lines := book.lines(t, "finished call")
		if len(lines) != 5 {
			t.Fatalf("%d lines for 5 calls:\n%s", len(lines), book.text())
		}
		if got := lines[1]; got["grpc.code"] != "InvalidArgument" || got["grpc.reason"] != event.ReasonInvalidArguments ||
			got["grpc.method"] != "CallTool" {
			t.Errorf("the line of a refused call: %v", got)
		}
	})
}

// The text of an unexpected error goes to the log, on one line, and not to the caller.
func TestInternalErrorIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &logBook{}
		h := &fakeHub{failure: errors.New("disk full\nforged line")}
		_, err := mcphubv1.NewMcpServerServiceClient(serve(t, h, book.options())).SetLogLevel(t.Context(),
			&mcphubv1.SetLogLevelRequest{Server: "s", Level: "info"})
		if s := status.Convert(err); s.Code() != codes.Internal || s.Message() != "internal error" {
			t.Errorf("got %v", err)
		}
		if lines := book.lines(t, "call failed"); len(lines) != 1 || lines[0]["error"] != "disk full forged line" {
			t.Errorf("the log: %s", book.text())
		}
	})
}

// go-plugin's own services share the gRPC server; their calls are not logged.
func TestOtherServicesNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &logBook{}
		s := grpc.NewServer(ServerOptions(book.options())...)
		register(s, &fakeHub{}, book.options())
		healthv1.RegisterHealthServer(s, healthv1.UnimplementedHealthServer{})
		conn := fakeeditor.Serve(t, s, nil)
		_, _ = healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
		if book.text() != "" {
			t.Errorf("the log: %s", book.text())
		}
		_, _ = mcphubv1.NewMcpHubServiceClient(conn).GetInfo(t.Context(), &mcphubv1.GetInfoRequest{})
		synctest.Wait()
		if len(book.lines(t, "finished call")) != 1 {
			t.Errorf("the log: %s", book.text())
		}
	})
}

func TestReceiveLimit_amount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{call: func(_ context.Context, c hub.CallRequest) (*hub.CallResult, error) {
			return &hub.CallResult{Result: json.RawMessage(c.Arguments)}, nil
		}}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, Options{}))
		arguments := `{"k":"` + strings.Repeat("x", 8<<20) + `"}` // more than gRPC takes by default
		resp, err := client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: "t", ArgumentsJson: arguments})
		if err != nil || resp.GetResultJson() != arguments {
			t.Errorf("8 MiB did not come back whole: %v", err)
		}
		_, err = client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: "t",
			ArgumentsJson: strings.Repeat("x", maxReceive)})
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
		}
	})
}

// The log line of a call is written when the call is over, and says when it began and how long it took.
func TestLineTellsWhenCallBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &logBook{}
		h := &fakeHub{call: func(context.Context, hub.CallRequest) (*hub.CallResult, error) {
			time.Sleep(3 * time.Second)
			return &hub.CallResult{Result: json.RawMessage(`{}`)}, nil
		}}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, book.options()))
		start := time.Now()
		if _, err := client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: "t"}); err != nil {
			t.Fatal(err)
		}
		lines := book.lines(t, "finished call")
		if len(lines) != 1 {
			t.Fatalf("the log: %s", book.text())
		}
		if l := lines[0]; l["grpc.start_time"] != start.Format(time.RFC3339) || l["grpc.time_ms"] != "3000" ||
			l["grpc.code"] != "OK" || l["grpc.method"] != "CallTool" {
			t.Errorf("the line says %v; the call began at %s and took 3s", l, start.Format(time.RFC3339))
		}
	})
}
