package event

import (
	"context"
	"errors"
	"fmt"
)

// Code is the kind of trouble; package ipc maps it to the gRPC code of the same name.
type Code string

// The codes, named as in gRPC.
const (
	CodeNotFound           Code = "NOT_FOUND"
	CodeAlreadyExists      Code = "ALREADY_EXISTS"
	CodeInvalidArgument    Code = "INVALID_ARGUMENT"
	CodePermissionDenied   Code = "PERMISSION_DENIED"
	CodeFailedPrecondition Code = "FAILED_PRECONDITION"
	CodeCancelled          Code = "CANCELLED"
	CodeDeadlineExceeded   Code = "DEADLINE_EXCEEDED"
	CodeUnavailable        Code = "UNAVAILABLE"
	CodeResourceExhausted  Code = "RESOURCE_EXHAUSTED"
	CodeInternal           Code = "INTERNAL"
)

// The reasons: one for each thing that can be told apart by a program.
const (
	ReasonServerNotFound   = "SERVER_NOT_FOUND"
	ReasonToolNotFound     = "TOOL_NOT_FOUND"
	ReasonRequestIDInUse   = "REQUEST_ID_IN_USE"
	ReasonInvalidArguments = "INVALID_ARGUMENTS"
	ReasonInvalidRequest   = "INVALID_REQUEST"
	ReasonCancelled        = "CANCELLED"
	ReasonConnectTimeout   = "CONNECT_TIMEOUT"
	ReasonIdleTimeout      = "IDLE_TIMEOUT"
	ReasonTotalTimeout     = "TOTAL_TIMEOUT"
	ReasonHumanTimeout     = "HUMAN_TIMEOUT"
	ReasonDeniedByUser     = "DENIED_BY_USER"
	ReasonDismissedByUser  = "DISMISSED_BY_USER"
	ReasonDeniedByPolicy   = "DENIED_BY_POLICY"
	ReasonNoApprover       = "NO_APPROVER"
	ReasonServerDisabled   = "SERVER_DISABLED"
	ReasonServerBroken     = "SERVER_BROKEN"
	ReasonServerFailed     = "SERVER_FAILED"
	ReasonServerGone       = "SERVER_GONE"
	ReasonInputDeclined    = "INPUT_DECLINED"
	ReasonDraining         = "DRAINING"
	ReasonQueueFull        = "QUEUE_FULL"
	ReasonResultTooLarge   = "RESULT_TOO_LARGE"
	ReasonProtocolError    = "PROTOCOL_ERROR"
	ReasonUncancellable    = "UNCANCELLABLE"
	ReasonPromptClosed     = "PROMPT_CLOSED"
	ReasonPromptNotFound   = "PROMPT_NOT_FOUND"
	ReasonPromptKind       = "PROMPT_KIND"
	ReasonInvalidContent   = "INVALID_CONTENT"
	ReasonWindowIDInUse    = "WINDOW_ID_IN_USE"
	ReasonWindowSuperseded = "WINDOW_SUPERSEDED"
	ReasonWindowTooSlow    = "WINDOW_TOO_SLOW"
	ReasonWindowDetached   = "WINDOW_DETACHED"
	ReasonNoLogging        = "NO_LOGGING"
	ReasonServerStopped    = "SERVER_STOPPED"
	ReasonExchangeFailed   = "EXCHANGE_FAILED"
	ReasonTaskLost         = "TASK_LOST"
	ReasonSignInDeclined   = "SIGN_IN_DECLINED"
	ReasonSignInFailed     = "SIGN_IN_FAILED"
	ReasonNotOffered       = "NOT_OFFERED"
	ReasonServerGivenUp    = "SERVER_GIVEN_UP"
	ReasonMemoryExceeded   = "MEMORY_EXCEEDED"
	ReasonLaunchDeclined   = "LAUNCH_DECLINED"
	ReasonInputMissing     = "CONFIG_INPUT_MISSING"
	ReasonBoundExceeded    = "BOUND_EXCEEDED"
	ReasonEraRefused       = "ERA_REFUSED"
	ReasonProfileNotFound  = "PROFILE_NOT_FOUND"
	ReasonResultNotFound   = "RESULT_NOT_FOUND"
	ReasonRequestNotKept   = "REQUEST_NOT_KEPT"
	ReasonNoResult         = "NO_RESULT"
	ReasonNotForApps       = "NOT_FOR_APPS"
	ReasonRequestOpen      = "REQUEST_OPEN"

	ReasonServerExists      = "SERVER_EXISTS"
	ReasonConfigBroken      = "CONFIG_BROKEN"
	ReasonConfigUnsupported = "CONFIG_UNSUPPORTED"
	ReasonConfigInvalid     = "CONFIG_INVALID"
	ReasonConfigNotWritable = "CONFIG_NOT_WRITABLE"
	ReasonConfigChanged     = "CONFIG_CHANGED"
	ReasonConfigFileNeeded  = "CONFIG_FILE_NEEDED"
	ReasonNothingToUndo     = "NOTHING_TO_UNDO"
	ReasonConsentNotShown   = "CONSENT_NOT_SHOWN"

	ReasonRegistryNotSet         = "REGISTRY_NOT_SET"
	ReasonRegistryAddress        = "REGISTRY_ADDRESS"
	ReasonRegistryFailed         = "REGISTRY_FAILED"
	ReasonRegistryServerNotFound = "REGISTRY_SERVER_NOT_FOUND"
	ReasonProposalNotFound       = "PROPOSAL_NOT_FOUND"
	ReasonInputInvalid           = "INPUT_INVALID"
	ReasonBundleInvalid          = "BUNDLE_INVALID"
)

// Error is trouble of the hub's own. Its text says what happened, to whom, and what to do.
type Error struct {
	Code    Code
	Reason  string            // one of the Reason constants
	Message string            // for people
	Meta    map[string]string // for programs: server, request_id, setting, origin, cancel_reason ...
	Err     error             `json:"-"` // what lies beneath, never shown to a host: it may hold secrets
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives what lies beneath.
func (e *Error) Unwrap() error { return e.Err }

// AsError gives err as an *Error: itself when it is one, else an INTERNAL one that hides its text. nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Reason: "INTERNAL", Message: "internal error", Err: err}
}

// fail builds an Error; meta is key, value, key, value.
func Fail(code Code, reason string, meta []string, format string, args ...any) *Error {
	e := &Error{Code: code, Reason: reason, Message: fmt.Sprintf(format, args...)}
	for i := 0; i+1 < len(meta); i += 2 {
		if e.Meta == nil {
			e.Meta = map[string]string{}
		}
		e.Meta[meta[i]] = meta[i+1]
	}
	return e
}

// StoppedWaiting is err, or, once ctx has ended, the error that says that its caller stopped waiting.
func StoppedWaiting(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if _, ok := err.(*Error); ok {
		return err
	}
	return Fail(CodeCancelled, ReasonCancelled, nil, "the host stopped waiting")
}

// ErrDraining refuses new work because the hub is shutting down.
func ErrDraining() *Error {
	return Fail(CodeUnavailable, ReasonDraining, nil,
		"the hub is shutting down and takes no new work; start a new hub")
}
