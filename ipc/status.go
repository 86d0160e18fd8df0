package ipc

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"unicode"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub/event"
)

// errorDomain is the domain of every ErrorInfo detail.
const errorDomain = "mcphub"

// Reasons of errors that the services make themselves.
const (
	reasonHelloExpected = "HELLO_EXPECTED"
	reasonMethodOfHosts = "METHOD_OF_HOSTS"
	reasonInternal      = "INTERNAL"
)

// maxErrorText bounds a message or a metadata value, in runes. They are sent in HTTP/2 header fields, the message
// twice. Node's default limit for all header fields is 16 KiB.
const maxErrorText = 1024

// grpcCodes maps the hub's codes to those of gRPC.
var grpcCodes = map[event.Code]codes.Code{
	event.CodeNotFound:           codes.NotFound,
	event.CodeAlreadyExists:      codes.AlreadyExists,
	event.CodeInvalidArgument:    codes.InvalidArgument,
	event.CodePermissionDenied:   codes.PermissionDenied,
	event.CodeFailedPrecondition: codes.FailedPrecondition,
	event.CodeCancelled:          codes.Canceled,
	event.CodeDeadlineExceeded:   codes.DeadlineExceeded,
	event.CodeUnavailable:        codes.Unavailable,
	event.CodeResourceExhausted:  codes.ResourceExhausted,
	event.CodeInternal:           codes.Internal,
}

// internalError is what a host gets for any error that is not an *event.Error.
var internalError = &event.Error{Code: event.CodeInternal, Reason: reasonInternal, Message: "internal error"}

// statusOf returns err as a gRPC status with an ErrorInfo detail, nil for nil. An error that is not an *event.Error
// becomes INTERNAL and loses its text, except the end of a context.
//
// Metadata is for programs and keeps its text word for word, including control characters: the reason of a cancel is
// what its author wrote, and has to be escaped where it is shown. It is sent in the detail, which is binary
// (grpc-status-details-bin). The message is for people and becomes one line.
func statusOf(err error) error {
	if err == nil {
		return nil
	}
	e := hubErrorOf(err)
	code, ok := grpcCodes[e.Code]
	if !ok {
		code = codes.Internal
	}
	info := &errdetails.ErrorInfo{Reason: clean(e.Reason), Domain: errorDomain}
	for k, v := range e.Meta {
		if info.Metadata == nil {
			info.Metadata = make(map[string]string, len(e.Meta))
		}
		info.Metadata[clean(k)] = cut(clean(v))
	}
	s := status.New(code, bound(clean(e.Message)))
	if with, err := s.WithDetails(info); err == nil { // no error can happen: all text is valid UTF-8, and s is not OK
		s = with
	}
	return s.Err()
}

// loggedStatus is statusOf. It logs the text of an error that the host must not see.
func loggedStatus(ctx context.Context, log *slog.Logger, err error) error {
	if e := hubErrorOf(err); e.Code == event.CodeInternal {
		beneath := err
		if e.Err != nil {
			beneath = e.Err
		}
		log.ErrorContext(ctx, "call failed", "reason", e.Reason, "error", bound(clean(beneath.Error())))
	}
	return statusOf(err)
}

// hubErrorOf converts err to the hub's error type.
func hubErrorOf(err error) *event.Error {
	if e, ok := errors.AsType[*event.Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &event.Error{Code: event.CodeCancelled, Reason: event.ReasonCancelled, Message: "the call was cancelled",
			Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &event.Error{Code: event.CodeDeadlineExceeded, Reason: event.ReasonTotalTimeout,
			Message: "the deadline of the gRPC call has passed", Meta: map[string]string{"setting": "deadline of the gRPC call"},
			Err: err}
	}
	return internalError
}

// reasonOf returns the reason of a status that this package has made, "" if it has none.
func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			return info.GetReason()
		}
	}
	return ""
}

// invalid returns err as INVALID_ARGUMENT with the reason INVALID_REQUEST.
func invalid(err error) *event.Error {
	return &event.Error{Code: event.CodeInvalidArgument, Reason: event.ReasonInvalidRequest, Message: err.Error()}
}

func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// bound cuts s and replaces its control characters, since it is sent in a header field and is logged.
func bound(s string) string {
	return cut(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
}

// cut bounds s, in whole code points.
func cut(s string) string {
	n := 0
	for i := range s {
		if n == maxErrorText {
			return s[:i] + "..."
		}
		n++
	}
	return s
}
