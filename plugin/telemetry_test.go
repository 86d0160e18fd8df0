package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// stuck is an exporter that blocks until the test closes free, even if its context ends.
type stuck struct {
	free chan struct{}

	mu  sync.Mutex // guards got
	got int
}

func (s *stuck) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	<-s.free
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got += len(spans)
	return nil
}

func (s *stuck) Shutdown(context.Context) error { return nil }

// inMemory returns a hub's Open that starts the fake server in this process.
func inMemory(s *fakeserver.Server) func(config.Server, func(string)) mcp.Opener {
	return func(config.Server, func(string)) mcp.Opener {
		return func(context.Context) (*mcp.Link, error) {
			p := s.Start(context.Background())
			return &mcp.Link{Conn: jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{Close: p.End})}, nil
		}
	}
}

// A collector that takes nothing delays no call, whatever the number of spans, and the hub's close by no more than
// telemetryFlush.
func TestSlowExporterSlowsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		l := slog.New(slog.NewTextHandler(&logged, nil))
		s := fakeserver.New()
		s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
		exporter := &stuck{free: make(chan struct{})}
		tel := sendingTo(exporter, "test", l)
		h := hub.New(hub.Options{Open: inMemory(s), Tracer: tel.tracer()})
		r := realHub{hub: h, gateways: gateway.NewSet(h), telemetry: tel}
		if _, _, _,
			err := r.hub.LoadConfig(t.Context(), []hub.ConfigSource{{Scope: "host", Path: "c.json",
			JSON: `{"mcpServers":{"s":{"command":"s","alwaysAllow":["*"]}}}`}}); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		const calls = 3000 // more than the queue of spans holds
		for range calls {
			if _, err := r.hub.CallTool(t.Context(), hub.CallRequest{Server: "s", Tool: "echo"}); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begin); d != 0 {
			t.Errorf("the calls took %v", d)
		}
		begin = time.Now()
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d != telemetryFlush {
			t.Errorf("the end took %v", d)
		}
		if !strings.Contains(logged.String(), "the last spans were not sent") {
			t.Errorf("the log says %s", logged.String())
		}
		close(exporter.free)
		synctest.Wait()
		if exporter.got == 0 || exporter.got >= calls {
			t.Errorf("%d spans arrived in the end", exporter.got)
		}
	})
}

// The spans that end with the hub's close are sent, too, without a wait.
func TestSpansAreFlushedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeserver.New()
		s.Tool("hang", func(c *fakeserver.CallContext) { _ = c.Hang() })
		exporter := &stuck{free: make(chan struct{})}
		close(exporter.free)
		tel := sendingTo(exporter, "test", slog.New(slog.DiscardHandler))
		h := hub.New(hub.Options{Open: inMemory(s), Tracer: tel.tracer()})
		r := realHub{hub: h, gateways: gateway.NewSet(h), telemetry: tel}
		if _, _, _,
			err := r.hub.LoadConfig(t.Context(), []hub.ConfigSource{{Scope: "host", Path: "c.json",
			JSON: `{"mcpServers":{"s":{"command":"s","alwaysAllow":["*"]}}}`}}); err != nil {
			t.Fatal(err)
		}
		var call sync.WaitGroup
		call.Go(func() { _, _ = r.hub.CallTool(t.Context(), hub.CallRequest{Server: "s", Tool: "hang"}) })
		synctest.Wait()
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		call.Wait()
		if exporter.got != 2 { // the start of the session, and the call
			t.Errorf("%d spans arrived", exporter.got)
		}
	})
}

func TestTelemetryIsOffUnlessAskedFor(t *testing.T) {
	for _, test := range []struct {
		env    map[string]string
		logged string // "" = nothing
	}{
		{nil, ""},
		{map[string]string{"MCPHUB_TELEMETRY": ""}, ""},
		{map[string]string{"MCPHUB_TELEMETRY": "off"}, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, ""},
		{map[string]string{"MCPHUB_TELEMETRY": "SECRET"}, "neither otlp nor off"},
		{map[string]string{"MCPHUB_TELEMETRY": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			"OTEL_EXPORTER_OTLP_PROTOCOL is not http/protobuf"},
		{map[string]string{"MCPHUB_TELEMETRY": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
			"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, "TRACES_PROTOCOL is not"},
	} {
		var logged bytes.Buffer
		got := openTelemetry(func(name string) (string, bool) {
			v, ok := test.env[name]
			return v, ok
		}, "test", slog.New(slog.NewTextHandler(&logged, nil)))
		if got != nil || got.tracer() != nil || (logged.Len() == 0) != (test.logged == "") ||
			!strings.Contains(logged.String(), test.logged) || strings.Contains(logged.String(), "SECRET") {
			t.Errorf("%v: %v, logged %s", test.env, got, logged.String())
		}
		got.close(t.Context())
	}
}

// A collector gets the spans by OTLP over HTTP, with the resource and the headers that the environment sets.
// In the bubble no time goes by while the server waits for the network, so that nothing is given up for a busy machine.
func TestSpansReachACollector(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	type post struct{ about, path, header, body string }
	posts := make(chan post, 10)
	synctest.Test(t, func(t *testing.T) {
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			posts <- post{r.Header.Get("Content-Type"), r.URL.Path, r.Header.Get("X-Key"), string(body)}
		})}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(listener) })
		defer serving.Wait()
		defer server.Close()
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+listener.Addr().String())
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Key=k1")
		t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
		tel := openTelemetry(func(name string) (string, bool) {
			return map[string]string{"MCPHUB_TELEMETRY": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}[name], true
		}, "1.2.3", slog.New(slog.DiscardHandler))
		if tel == nil {
			t.Fatal("telemetry is off")
		}
		_, span := tel.tracer().Tracer("t").Start(t.Context(), "tools/call echo")
		span.End()
		tel.close(t.Context())
		got := <-posts
		var sent collector.ExportTraceServiceRequest
		if err := proto.Unmarshal([]byte(got.body), &sent); err != nil || len(sent.ResourceSpans) != 1 {
			t.Fatalf("%v: %v", err, &sent)
		}
		about := fmt.Sprint(sent.ResourceSpans[0].Resource)
		for _, want := range []string{"service.name", "mcphub", "1.2.3", "deployment.environment.name"} {
			if !strings.Contains(about, want) {
				t.Errorf("the resource lacks %q: %s", want, about)
			}
		}
		if name := sent.ResourceSpans[0].ScopeSpans[0].Spans[0].Name; got.about != "application/x-protobuf" ||
			got.path != "/v1/traces" || got.header != "k1" || name != "tools/call echo" {
			t.Errorf("%q %q %q %q", got.about, got.path, got.header, name)
		}
	})
}

// The name of an export's error has neither addresses nor text of the collector.
func TestExportTrouble(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1},
		Err: errors.New("SECRET")}
	for want, err := range map[string]error{
		"no answer in time":   fmt.Errorf("SECRET: %w", context.DeadlineExceeded),
		"no such host":        fmt.Errorf("SECRET: %w", &net.DNSError{Err: "no such host", Name: "SECRET"}),
		"*net.OpError":        refused,
		"*errors.errorString": errors.New("SECRET"),
	} {
		if got := exportTrouble(err); got != want {
			t.Errorf("%v is called %q, want %q", err, got, want)
		}
	}
}
