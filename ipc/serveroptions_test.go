package ipc

import (
	"bytes"
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

// lines returns what was logged since it was asked last.
func (l *logBook) lines() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		lines = append(lines, "log: "+strings.TrimSpace(line))
	}
	l.buf.Reset()
	return lines
}

// options returns the options of services that write into the book. What goes by the machine is left out.
func (l *logBook) options(logged bool) Options {
	if !logged {
		return Options{}
	}
	plain := func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey:
			return slog.Attr{}
		case "stack":
			a.Value = slog.BoolValue(strings.Contains(a.Value.String(), "mcphub/ipc."))
		case "grpc.start_time":
			at, _ := time.Parse(time.RFC3339, a.Value.String())
			a.Value = slog.StringValue(at.UTC().Format(time.RFC3339))
		}
		return a
	}
	return Options{Logger: slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug,
		ReplaceAttr: plain}))}
}

// go-plugin's own services share the gRPC server; their calls are not logged.
func TestOtherServicesNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := new(logBook)
		s := grpc.NewServer(ServerOptions(book.options(true))...)
		register(s, &fakeHub{}, book.options(true))
		healthv1.RegisterHealthServer(s, healthv1.UnimplementedHealthServer{})
		conn := fakeeditor.Serve(t, s, nil)
		_, _ = healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
		if lines := book.lines(); len(lines) != 0 {
			t.Errorf("the log: %s", lines)
		}
		_, _ = mcphubv1.NewMcpHubServiceClient(conn).GetInfo(t.Context(), &mcphubv1.GetInfoRequest{})
		synctest.Wait()
		if lines := book.lines(); len(lines) != 1 {
			t.Errorf("the log: %s", lines)
		}
	})
}

func TestReceiveLimit_amount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := mcphubv1.NewMcpHubServiceClient(serve(t, &fakeHub{}, Options{}))
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
