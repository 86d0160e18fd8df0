package mcpserver

import (
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

var (
	// ErrUnknownMethod is returned by a Handler for a method that it does not know.
	ErrUnknownMethod error = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
	// ErrUndeclared is what Ask fails with when the client has not declared that it answers such questions: they may be
	// asked elsewhere.
	ErrUndeclared = errors.New("mcpserver: the client has not declared the capability for this question")
	// ErrNotAskable is what Ask fails with where the protocol allows no question: a modern client can be asked in the
	// course of tools/call, prompts/get and resources/read alone.
	ErrNotAskable = errors.New("mcpserver: the client can not be asked in the course of this request")
	// ErrNoRetry is the cause with which a modern request ends whose client was asked and did not come back in time.
	ErrNoRetry = errors.New("the client did not retry the request in time")
	// ErrTooManySessions refuses a session beyond Bounds.Sessions.
	ErrTooManySessions = errors.New("too many sessions are open: end one, or come back later")
	// ErrIdle is the cause with which a legacy session over HTTP ends that was not used for Bounds.Idle.
	ErrIdle = errors.New("the session was not used for too long")
	// ErrServerClosed is the cause of Close without one.
	ErrServerClosed = errors.New("mcpserver: the server is closed")
)

// SessionEndedError is the cause with which requests end whose session has ended.
type SessionEndedError struct{ Cause error }

func (e *SessionEndedError) Error() string {
	return "the client's session has ended: " + e.Cause.Error()
}

// Unwrap gives why.
func (e *SessionEndedError) Unwrap() error { return e.Cause }

func invalid(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

var (
	errNotInitialized = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
		Message: "the first request must be initialize, or carry the metadata of 2026-07-28"}
	errInitialized = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the session is initialized already"}
	errTooMany     = &jsonrpc.Error{Code: jsonrpc.CodeTooManyRequests, Message: "too many open requests: wait until one ends"}
	errTooLarge    = &jsonrpc.Error{Code: jsonrpc.CodeTooManyRequests,
		Message: "the open requests are too large: wait until one ends"}
	errState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: "requestState is unknown, used, expired, or not of this request"}
)

func unsupported(requested string) error {
	data, _ := json.Marshal(map[string]any{"supported": []string{protocol.Revision20260728}, "requested": requested})
	return &jsonrpc.Error{Code: protocol.CodeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
}
