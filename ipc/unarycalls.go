package ipc

import (
	"context"
	"log/slog"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// unaryCalls does for unary calls what a chain of interceptors would do. In a chain, each interceptor keeps its frame
// and its data on the stack of a call for as long as a tool works, and ten thousand calls may be open. So only the
// recovery wraps the handler here. The others run before and after it.
type unaryCalls struct {
	log                          *slog.Logger
	logged, validated, recovered grpc.UnaryServerInterceptor
}

func (u *unaryCalls) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo,
	handler grpc.UnaryHandler) (any, error) {
	if !ours(info.FullMethod) {
		return u.recovered(ctx, req, info, handler)
	}
	start := time.Now()
	resp, err := u.validated(ctx, req, info, accepted)
	if err == nil {
		resp, err = u.recovered(ctx, req, info, handler)
	}
	if err != nil {
		err = u.status(ctx, err)
	}
	if u.log.Enabled(ctx, slog.Level(levelOf(status.Code(err)))) {
		u.tell(ctx, req, info, start, err)
	}
	return resp, err
}

// status returns the error of a service, of the validator or of the recovery as a status. It logs the text of an error
// that the host must not see.
func (u *unaryCalls) status(ctx context.Context, err error) error {
	if _, is := status.FromError(err); is {
		return explained(err)
	}
	return loggedStatus(ctx, u.log, err)
}

// accepted is a handler for the validating interceptor that does nothing.
func accepted(context.Context, any) (any, error) { return nil, nil }

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

// began returns the value of a field of a log record. For fields that depend on the start of the call it uses the time
// in ctx, since the middleware's own clock has started only when the call was over.
func began(ctx context.Context, field, value any) any {
	start, ok := ctx.Value(callBegan{}).(time.Time)
	switch {
	case !ok:
	case field == "grpc.start_time":
		return start.Format(time.RFC3339)
	case field == "grpc.time_ms":
		return logging.DurationToTimeMillisFields(time.Since(start))[1]
	}
	return value
}
