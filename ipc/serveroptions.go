package ipc

import (
	"context"
	"log/slog"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// maxReceive bounds one message from a host. gRPC's default of 4 MiB is too small for the arguments of a tool that
// takes a file. Without a bound, one host could fill the memory.
const maxReceive = 64 << 20

// streamWorkers is how many goroutines wait for calls. A call needs a stack of 8 KiB. A new goroutine grows its stack
// to that in steps, and copies it in each; a goroutine that has carried a call has such a stack. If all of them are
// busy (endless streams keep theirs), a call gets a new goroutine.
const streamWorkers = 8

// Flow control windows for what a host sends. Without them, gRPC would measure the line with a PING at every message
// that it receives. On a local socket there is nothing to learn from that, and each PING costs the host a wake-up and
// an answer: 7 % of a short call through Node.
const (
	streamWindow     = 1 << 20  // of one call; a longer message waits for the reader, as it must
	connectionWindow = 16 << 20 // of all calls together
)

// ServerOptions returns the options of a gRPC server that carries the services: each call is checked, carried out, and
// logged when it is over; a panic ends the call alone; and a message from a host has a largest size. Messages to a host
// have no bound, and there is no keepalive, since a local socket ends with its peer.
//
// go-plugin registers services of its own with the same server. They are neither checked nor logged: some of them are
// endless streams.
func ServerOptions(o Options) []grpc.ServerOption {
	c := &calls{o.logger()}
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(c.unary),
		grpc.StreamInterceptor(c.stream),
		grpc.MaxRecvMsgSize(maxReceive),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
	}
}

// ours reports whether a method belongs to this package.
func ours(method string) bool { return strings.HasPrefix(method, "/mcphub.") }

// calls are the interceptors. What they keep on the stack is kept for as long as a tool works, and ten thousand calls
// may be open.
type calls struct{ log *slog.Logger }

func (c *calls) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo,
	handler grpc.UnaryHandler) (any, error) {
	if !ours(info.FullMethod) {
		return c.handle(ctx, req, handler)
	}
	start := time.Now()
	if err := mcphubv1.Check(req.(proto.Message)); err != nil {
		return nil, c.over(ctx, info.FullMethod, start, invalid(err))
	}
	resp, err := c.handle(ctx, req, handler)
	return resp, c.over(ctx, info.FullMethod, start, err)
}

func (c *calls) handle(ctx context.Context, req any, handler grpc.UnaryHandler) (resp any, err error) {
	defer c.recovered(&err)
	return handler(ctx, req)
}

func (c *calls) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo,
	handler grpc.StreamHandler) (err error) {
	if ours(info.FullMethod) {
		start := time.Now()
		defer func() { err = c.over(stream.Context(), info.FullMethod, start, err) }()
	}
	defer c.recovered(&err)
	return handler(srv, stream)
}

// recovered makes an error of a panic. It is deferred.
func (c *calls) recovered(err *error) {
	if p := recover(); p != nil {
		*err = panicked(c.log, p)
	}
}

// over logs a call that has ended, without its payload and the text of its error, which may quote what a server or a
// user wrote, and returns its error as a status.
//
//go:noinline
func (c *calls) over(ctx context.Context, method string, start time.Time, err error) error {
	if _, is := status.FromError(err); !is {
		err = loggedStatus(ctx, c.log, err)
	}
	code := status.Code(err)
	if level := levelOf(code); c.log.Enabled(ctx, level) {
		fields := []any{"grpc.service", path.Dir(method)[1:], "grpc.method", path.Base(method),
			"grpc.start_time", start.Format(time.RFC3339), "grpc.code", code.String(),
			"grpc.time_ms", float64(time.Since(start).Microseconds()) / 1000}
		if reason := reasonOf(err); reason != "" {
			fields = append(fields, "grpc.reason", reason)
		}
		c.log.Log(ctx, level, "finished call", fields...)
	}
	return err
}

// levelOf returns the level for a call that ended with code. It is low for ordinary ends.
func levelOf(code codes.Code) slog.Level {
	switch code {
	case codes.OK:
		return slog.LevelDebug
	case codes.Canceled, codes.DeadlineExceeded, codes.FailedPrecondition, codes.PermissionDenied, codes.NotFound,
		codes.AlreadyExists, codes.InvalidArgument, codes.Unauthenticated:
		return slog.LevelInfo
	case codes.ResourceExhausted, codes.Unavailable, codes.Aborted, codes.OutOfRange:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// panicked logs a panic with its stack, and returns an error that hides both from the host.
func panicked(log *slog.Logger, p any) error {
	log.Error("panic", "value", bound(panicText(p)), "stack", string(debug.Stack()))
	return statusOf(internalError)
}

// panicText describes a panic without printing arbitrary values, which may hold payloads.
func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "a value that is neither error nor string"
}
