package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// telemetryFlush bounds how long the end of the hub waits for the collector to accept the last spans. Together with the
// rest of the end it must be shorter than the host waits: see roadShutdown.
const telemetryFlush = time.Second

var errFlushTooLong = errors.New("the collector did not take the last spans in time")

// telemetry exports the spans of the hub. It is nil if telemetry is off.
type telemetry struct {
	provider *sdktrace.TracerProvider
	log      *slog.Logger
}

// openTelemetry switches telemetry on if the host has set MCPHUB_TELEMETRY=otlp. The variables of OpenTelemetry
// (OTEL_EXPORTER_OTLP_*, OTEL_BSP_*, OTEL_RESOURCE_ATTRIBUTES), which the exporter reads, set the destination and the
// rate. If there is a problem, openTelemetry logs it, and telemetry is off.
func openTelemetry(lookup func(string) (string, bool), version string, l *slog.Logger) *telemetry {
	switch mode, _ := lookup(handshake.EnvTelemetry); mode {
	case "", "off":
		return nil
	case "otlp":
	default:
		l.Warn("telemetry is off: "+handshake.EnvTelemetry+" is neither otlp nor off", "value_bytes", len(mode))
		return nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol, _ := lookup(name); protocol == "http/protobuf" {
			break // the variable for traces takes precedence
		} else if protocol != "" {
			l.Warn("telemetry is off: " + name + " is not http/protobuf, and nothing else is spoken here")
			return nil
		}
	}
	exporter, err := otlptracehttp.New(context.Background()) // it connects when the first spans are sent
	if err != nil {
		l.Warn("telemetry is off: its exporter could not be made", "error", exportTrouble(err))
		return nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		l.Warn("telemetry: spans were lost", "error", exportTrouble(err))
	}))
	l.Info("telemetry is on", "exporter", "otlp", "protocol", "http/protobuf")
	return sendingTo(exporter, version, l)
}

// sendingTo collects spans and sends them in batches, from a goroutine of its own. If spans come faster than the
// collector accepts them, they are dropped: code that makes a span never waits.
func sendingTo(exporter sdktrace.SpanExporter, version string, l *slog.Logger) *telemetry {
	about, err := resource.New(context.Background(), resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "mcphub"), attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil {
		l.Warn("telemetry: the attributes of the environment are not all of use", "error", exportTrouble(err))
	}
	return &telemetry{provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)),
		log: l}
}

// tracer returns what the hub makes spans with, nil if telemetry is off.
func (t *telemetry) tracer() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.provider
}

// close sends the remaining spans, for a bounded time.
func (t *telemetry) close(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, stop := context.WithTimeoutCause(ctx, telemetryFlush, errFlushTooLong)
	defer stop()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("telemetry: the last spans were not sent", "error", exportTrouble(err))
	}
}

// exportTrouble returns a description of err without addresses and without text of a collector, since both may hold
// secrets.
func exportTrouble(err error) string {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	return fmt.Sprintf("%T", err)
}
