package host

import (
	"errors"
	"maps"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errorDomain is the domain of the ErrorInfo details that the hub makes.
const errorDomain = "mcphub"

// Failure is the hub's description of a call that has failed.
type Failure struct {
	// Code is the name of the gRPC code as the contract writes it, for example NOT_FOUND.
	Code string
	// Reason is the exact reason, for example PROMPT_CLOSED. It is empty if the status came not from the hub's services
	// but from gRPC itself: the hub is gone, or the call's own context has ended.
	Reason string
	// Message says what happened, to whom, and what to do.
	Message string
	// Meta has details of the reason: server, request_id, setting and so on. It is nil if there are none.
	Meta map[string]string
}

// ErrorOf returns the failure in an error of a gRPC call, which may be wrapped. It returns false for nil and for an
// error without a gRPC status.
func ErrorOf(err error) (*Failure, bool) {
	var carrier interface{ GRPCStatus() *status.Status }
	if err == nil || !errors.As(err, &carrier) || carrier.GRPCStatus() == nil {
		return nil, false
	}
	s := carrier.GRPCStatus() // not status.FromError, which puts the text of the wrapping error before the message
	f := &Failure{Code: codeName(s.Code()), Message: s.Message()}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			f.Reason, f.Meta = info.GetReason(), maps.Clone(info.GetMetadata())
			break
		}
	}
	return f, true
}

// codeNames are the names in the gRPC specification; codes.Code has other names.
var codeNames = [...]string{
	codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
	codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.OutOfRange: "OUT_OF_RANGE",
	codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE",
	codes.DataLoss: "DATA_LOSS", codes.Unauthenticated: "UNAUTHENTICATED",
}

func codeName(c codes.Code) string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "UNKNOWN"
}
