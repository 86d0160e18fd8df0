package host

import (
	"errors"
	"maps"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errorDomain marks the ErrorInfo details that are the hub's own.
const errorDomain = "mcphub"

// Failure is what the hub says about a call that it could not carry out.
type Failure struct {
	// Code is the name of the gRPC code as the contract writes it, NOT_FOUND say.
	Code string
	// Reason says it exactly, PROMPT_CLOSED say. Empty when the status did not come from the hub's services but from
	// gRPC itself: the hub is gone, or the call's own context ended.
	Reason string
	// Message says what happened, to whom, and what to do.
	Message string
	// Meta belongs to the reason: server, request_id, setting and so on. Nil when there is none.
	Meta map[string]string
}

// ErrorOf reads the failure out of an error of a gRPC call, wrapped or not. It returns false for nil and for an error
// that carries no gRPC status.
func ErrorOf(err error) (*Failure, bool) {
	var carrier interface{ GRPCStatus() *status.Status }
	if err == nil || !errors.As(err, &carrier) || carrier.GRPCStatus() == nil {
		return nil, false
	}
	s := carrier.GRPCStatus() // not status.FromError: it puts the wrapping text before the message
	f := &Failure{Code: codeName(s.Code()), Message: s.Message()}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			f.Reason, f.Meta = info.GetReason(), maps.Clone(info.GetMetadata())
			break
		}
	}
	return f, true
}

// codeNames are the names of the gRPC specification; codes.Code has names of its own.
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
