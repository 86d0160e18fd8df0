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
	// ErrUndeclared is the error of Ask if the client has not declared that it answers such questions. They may be asked
	// elsewhere.
	ErrUndeclared = errors.New("mcpserver: the client has not declared the capability for this question")
	// ErrNotAskable is the error of Ask where the protocol allows no question: a modern client can be asked only during
	// tools/call, prompts/get and resources/read. It is also the error of a question that was withdrawn because its call
	// has ended. It may be asked in the course of another call.
	ErrNotAskable = errors.New("mcpserver: the client can not be asked in the course of this request")
	// ErrNoRetry is the cause of a modern request's end if its client was asked and did not retry in time.
	ErrNoRetry = errors.New("the client did not retry the request in time")
	// ErrGaveWay is the cause of a modern request's end if its client was asked in so many newer ones that it has no more
	// room (Bounds.Parked).
	ErrGaveWay = errors.New("the client was asked in too many calls at once, and the oldest gave way")
	// ErrNotParked is the answer to a modern request, and the cause of its end, if there is no room to wait until its
	// client has answered a question (Bounds.Parked).
	ErrNotParked error = &jsonrpc.Error{Code: jsonrpc.CodeTooManyRequests,
		Message: "too many calls wait for the answers to questions: answer those of another, and call again"}
	// ErrTooManySessions is the error for a session beyond Bounds.Sessions.
	ErrTooManySessions = errors.New("too many sessions are open: end one, or come back later")
	// ErrDisplaced is the cause of the end of a session that has given way to a new one of its client, or because its
	// client has more than others.
	ErrDisplaced = errors.New("too many sessions are open, and this client has most of them")
	// ErrIdle is the cause of the end of a legacy session over HTTP that was not used for Bounds.Idle.
	ErrIdle = errors.New("the session was not used for too long")
	// ErrServerClosed is the cause if Close is called with nil.
	ErrServerClosed = errors.New("mcpserver: the server is closed")
)

// SessionEndedError is the cause of the end of requests whose session has ended.
type SessionEndedError struct{ Cause error }

func (e *SessionEndedError) Error() string {
	return "the client's session has ended: " + e.Cause.Error()
}

// Unwrap returns the cause of the session's end.
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
		Message: "requestState is unknown, used, expired, given up for newer calls, or not of this request"}
)

func unsupported(requested string) error {
	data, _ := json.Marshal(map[string]any{"supported": []string{protocol.Revision20260728}, "requested": requested})
	return &jsonrpc.Error{Code: protocol.CodeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
}
