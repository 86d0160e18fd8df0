//go:build unix

package plugin_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/plugin"
)

// brokenHub in the environment makes the test binary a plugin whose hub has a fault.
const brokenHub = "MCPHUB_TEST_BROKEN_HUB"

// faulty is telemetry that panics when a request begins, while the hub's lock is held.
type faulty struct{ embedded.TracerProvider }

func (faulty) Tracer(string, ...trace.TracerOption) trace.Tracer { return faultyTracer{} }

type faultyTracer struct{ embedded.Tracer }

func (faultyTracer) Start(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span) {
	panic("one fault")
}

// brokenDoor is a hub without gRPC services; beBroken itself makes the one call.
type brokenDoor struct{ *hub.Hub }

func (brokenDoor) Register(grpc.ServiceRegistrar)     {}
func (brokenDoor) ServerOptions() []grpc.ServerOption { return nil }

// beBroken serves a hub that panics at once, on a goroutine that recovers the panic, as the gRPC handlers do.
func beBroken() int {
	return plugin.Serve(func(l *slog.Logger, fatal func(string)) (plugin.Hub, error) {
		h := hub.New(hub.Options{Logger: l, Tracer: faulty{}, Fatal: fatal})
		_, _, _, err := h.LoadConfig(context.Background(), []hub.ConfigSource{
			{Scope: "user", JSON: `{"servers":{"s":{"command":"none","alwaysAllow":["*"]}}}`},
		})
		if err != nil {
			return nil, err
		}
		go func() {
			defer func() { _ = recover() }()
			_, _ = h.CallTool(context.Background(), hub.CallRequest{Server: "s", Tool: "t"})
		}()
		return brokenDoor{h}, nil
	})
}

// TestPanicUnderTheLockEndsThePlugin_real: after a panic under the lock, even a recovered one, the process exits with
// ExitBroken, and its last line says why. It must not go on with state that may be half changed. Finding A12.
func TestPanicUnderTheLockEndsThePlugin_real(t *testing.T) {
	h := start(t, nil, brokenHub+"=1")
	status, stderr := h.exit(t)
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	last := lines[len(lines)-1]
	if status != plugin.ExitBroken ||
		!strings.Contains(last, "a fault of the hub may have damaged its state (one fault)") {
		t.Errorf("exit status %d; standard error:\n%s", status, stderr)
	}
}
