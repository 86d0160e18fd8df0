package event

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code is the kind of an error; package ipc maps it to the gRPC code of the same name.
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

// The reasons. Each stands for one kind of failure that a program may want to tell from others.
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
	ReasonLaunchDeclined   = "LAUNCH_DECLINED"
	ReasonLaunchNotAllowed = "LAUNCH_NOT_ALLOWED"
	ReasonLaunchChanged    = "LAUNCH_CHANGED"
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

// Error is an error of the hub itself. Its text says what happened, to whom, and what to do.
type Error struct {
	Code    Code
	Reason  string            // one of the Reason constants
	Message string            // for people
	Meta    map[string]string // for programs: server, request_id, setting, origin, cancel_reason ...
	Err     error             `json:"-"` // the underlying error, never shown to a host: it may hold secrets
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// MetaPromptKind is the key of Meta for the kind of question that nobody could be asked: PromptKind.String.
const MetaPromptKind = "prompt_kind"

const unasked = "nobody could be asked: "

// Unasked returns the error for what waits for the answer of a person, if nobody could be asked. what says what waits,
// and for what. advice is what helps.
func Unasked(what string, kind PromptKind, advice string, meta ...string) *Error {
	return Fail(CodeFailedPrecondition, ReasonNoApprover, append(meta, MetaPromptKind, kind.String()),
		"%s, and nobody could be asked: no window shows the question; %s", what, advice)
}

// Advised returns the text of such an error with other words for why nobody could be asked and what helps: only the
// command line and the gateway know what helps there.
func Advised(text, advice string) string {
	if at := strings.LastIndex(text, unasked); at >= 0 {
		return text[:at+len(unasked)] + advice
	}
	return text
}

// AsError returns err as an *Error: the *Error that err is or wraps, else an INTERNAL one that hides the text of err.
// For nil it returns nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Reason: "INTERNAL", Message: "internal error", Err: err}
}

// Fail returns a new Error. meta lists keys and values in turn.
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

// StoppedWaiting returns err if it is an *Error or ctx has not ended. Otherwise it returns the error that says that the
// caller stopped waiting.
func StoppedWaiting(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if _, ok := err.(*Error); ok {
		return err
	}
	if cause, ok := errors.AsType[*CancelCause](context.Cause(ctx)); ok && cause.Reason != "" {
		return Fail(CodeCancelled, ReasonCancelled, nil, "%s", cause.Reason)
	}
	return Fail(CodeCancelled, ReasonCancelled, nil, "the host stopped waiting")
}

// ErrDraining returns the error with which new work is refused because the hub is shutting down.
func ErrDraining() *Error {
	return Fail(CodeUnavailable, ReasonDraining, nil,
		"the hub is shutting down and takes no new work; start a new hub")
}
