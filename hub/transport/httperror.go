package transport

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Delivery says what a server may have done with a request that failed.
type Delivery int

const (
	// NotSent: the server has not seen the request, or has said that it did nothing with it.
	NotSent Delivery = iota
	// MayHaveRun: the request may have had effects, and may still go on.
	MayHaveRun
)

var (
	// ErrHTTPClosed is the end of a transport that was closed on this side.
	ErrHTTPClosed = errors.New("the connection was closed")
	// ErrNoSignIn is wrapped by the error of an Authorizer (errors.Is) if another attempt is useless: a person has said
	// no, or the account lacks the right.
	ErrNoSignIn = errors.New("the sign-in was refused")
	// ErrSessionExpired ends a legacy Streamable HTTP transport: the server does not know the session any more (404,
	// 2025-11-25 basic/transports "Session Management"). A new session begins with initialize.
	ErrSessionExpired = errors.New("the server has ended the session")
	// ErrServerLost ends a legacy Streamable HTTP transport whose server cannot be reached any more, while no request is
	// open. Nobody is left to take the answers to what the session had open, such as questions to people.
	ErrServerLost = errors.New("the server cannot be reached any more")
	// ErrTooLong is wrapped by the HTTPError of a request whose answer was longer than HTTPOptions.MaxMessageBytes.
	ErrTooLong = errors.New("the answer is longer than maxMessageBytes allows")
)

// HTTPError is the failure of a request below JSON-RPC.
type HTTPError struct {
	// Status is the HTTP status of the answer; 0 if none came.
	Status int
	// Text says what happened, in words for people: bounded, without control characters, without header values and
	// queries.
	Text string
	// Delivery says whether the request may have had effects.
	Delivery Delivery
	// Sent is how often the whole request was written. The attempts before the last one certainly did not run, or change
	// nothing; see Repeats.
	Sent int
	// RetryAfter is how long the server asked to wait; 0 if it did not ask.
	RetryAfter time.Duration
	// Err is the underlying error, if there is one.
	Err error
}

func (e *HTTPError) Error() string {
	if e.Status == 0 {
		return e.Text
	}
	return fmt.Sprintf("HTTP status %d (%s): %s", e.Status, http.StatusText(e.Status), e.Text)
}

func (e *HTTPError) Unwrap() error { return e.Err }
