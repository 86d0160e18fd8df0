package ipc

import (
	"context"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
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
	log := o.logger()
	lines := callLogger(log)
	options := []logging.Option{
		logging.WithLogOnEvents(logging.FinishCall), // the payload events would log the arguments of tools
		logging.WithLevels(levelOf),
		logging.WithErrorFields(func(err error) logging.Fields {
			if reason := reasonOf(err); reason != "" {
				return logging.Fields{"grpc.reason", reason}
			}
			return nil
		}),
	}
	recovered := recovery.WithRecoveryHandler(func(p any) error { return panicked(log, p) })
	calls := &unaryCalls{log: log, logged: logging.UnaryServerInterceptor(lines, options...),
		recovered: recovery.UnaryServerInterceptor(recovered)}
	oursAlone := selector.MatchFunc(func(_ context.Context, c interceptors.CallMeta) bool { return ours(c.Service) })
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(calls.intercept),
		grpc.ChainStreamInterceptor(
			selector.StreamServerInterceptor(logging.StreamServerInterceptor(lines, options...), oursAlone),
			recovery.StreamServerInterceptor(recovered),
		),
		grpc.MaxRecvMsgSize(maxReceive),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
	}
}

// ours reports whether a service, or a full method name, belongs to this package.
func ours(service string) bool { return strings.HasPrefix(strings.TrimPrefix(service, "/"), "mcphub.") }

// unaryCalls does for unary calls what a chain of interceptors would do. In a chain, each interceptor keeps its frame
// and its data on the stack of a call for as long as a tool works, and ten thousand calls may be open. So only the
// recovery wraps the handler here. The check runs before it, and the log after it.
type unaryCalls struct {
	log               *slog.Logger
	logged, recovered grpc.UnaryServerInterceptor
}

func (u *unaryCalls) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo,
	handler grpc.UnaryHandler) (resp any, err error) {
	if !ours(info.FullMethod) {
		return u.recovered(ctx, req, info, handler)
	}
	start := time.Now()
	if wrong := mcphubv1.Check(req.(proto.Message)); wrong != nil {
		err = invalid(wrong)
	} else {
		resp, err = u.recovered(ctx, req, info, handler)
	}
	if _, is := status.FromError(err); !is {
		err = loggedStatus(ctx, u.log, err)
	}
	if u.log.Enabled(ctx, slog.Level(levelOf(status.Code(err)))) {
		u.tell(ctx, req, info, start, err)
	}
	return resp, err
}

// callBegan is the context key of the time at which a finished call began.
type callBegan struct{}

// tell logs a call that has ended.
//
//go:noinline
func (u *unaryCalls) tell(ctx context.Context, req any, info *grpc.UnaryServerInfo, start time.Time, err error) {
	_, _ = u.logged(context.WithValue(ctx, callBegan{}, start), req, info, func(context.Context, any) (any, error) {
		return nil, err
	})
}

// callLogger returns a logger that writes the middleware's records with slog, without two fields: the peer's address
// says nothing on a local socket, and the text of an error may quote what a server or a user wrote. Fields that depend
// on the start of the call use the time in ctx, since the middleware's own clock has started when the call was over.
func callLogger(log *slog.Logger) logging.Logger {
	return logging.LoggerFunc(func(ctx context.Context, level logging.Level, msg string, fields ...any) {
		start, unary := ctx.Value(callBegan{}).(time.Time)
		kept := make([]any, 0, len(fields))
		for i := 0; i+1 < len(fields); i += 2 {
			field, value := fields[i], fields[i+1]
			switch {
			case field == "peer.address" || field == "grpc.error":
				continue
			case unary && field == "grpc.start_time":
				value = start.Format(time.RFC3339)
			case unary && field == "grpc.time_ms":
				value = logging.DurationToTimeMillisFields(time.Since(start))[1]
			}
			kept = append(kept, field, value)
		}
		log.Log(ctx, slog.Level(level), msg, kept...)
	})
}

// levelOf returns the level for a call that ended with code. It is low for ordinary ends: success and cancels.
func levelOf(code codes.Code) logging.Level {
	switch code {
	case codes.OK:
		return logging.LevelDebug
	case codes.Canceled, codes.DeadlineExceeded, codes.FailedPrecondition, codes.PermissionDenied:
		return logging.LevelInfo
	}
	return logging.DefaultServerCodeToLevel(code)
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
