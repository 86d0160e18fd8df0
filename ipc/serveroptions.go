package ipc

import (
	"context"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/validator"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
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

// ServerOptions returns the options of a gRPC server that carries the services: logging, validation and recovery, in
// this order from the outside in, and the largest size of a message from a host. Messages to a host have no bound, and
// there is no keepalive, since a local socket ends with its peer.
//
// go-plugin registers services of its own with the same server. Logging and validation ignore these, because some of
// them are endless streams.
func ServerOptions(o Options) []grpc.ServerOption {
	oursAlone := selector.MatchFunc(func(_ context.Context, c interceptors.CallMeta) bool {
		return ours(c.Service)
	})
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
	recovered := recovery.WithRecoveryHandler(func(p any) error {
		return panicked(log, p)
	})
	calls := &unaryCalls{
		log: log, logged: logging.UnaryServerInterceptor(lines, options...), validated: validator.UnaryServerInterceptor(),
		recovered: recovery.UnaryServerInterceptor(recovered),
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(calls.intercept),
		grpc.ChainStreamInterceptor(
			selector.StreamServerInterceptor(logging.StreamServerInterceptor(lines, options...), oursAlone),
			selector.StreamServerInterceptor(explainStream, oursAlone),
			selector.StreamServerInterceptor(validator.StreamServerInterceptor(), oursAlone),
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

// callLogger returns a logger that writes the middleware's records with slog, without two fields: the peer's address
// says nothing on a local socket, and the text of an error may quote what a server or a user wrote.
func callLogger(log *slog.Logger) logging.Logger {
	return logging.LoggerFunc(func(ctx context.Context, level logging.Level, msg string, fields ...any) {
		l := slog.Level(level)
		if !log.Enabled(ctx, l) {
			return
		}
		kept := make([]any, 0, len(fields))
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i] != "peer.address" && fields[i] != "grpc.error" {
				kept = append(kept, fields[i], began(ctx, fields[i], fields[i+1]))
			}
		}
		log.Log(ctx, l, msg, kept...)
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

func explainStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return explained(handler(srv, stream))
}
