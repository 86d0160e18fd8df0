package transport

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Delivery tells what a server may have done with a request that failed.
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
	// ErrNoSignIn is what an Authorizer's error is (errors.Is) when trying again is of no use: a person has said no, or
	// the account has not the right.
	ErrNoSignIn = errors.New("the sign-in was refused")
	// ErrSessionExpired ends a legacy Streamable HTTP transport: the server does not know the session any more (404,
	// 2025-11-25 basic/transports "Session Management"). A new session begins with initialize.
	ErrSessionExpired = errors.New("the server has ended the session")
	// ErrServerLost ends a legacy Streamable HTTP transport whose server cannot be reached any more while nothing of it is
	// on its way. What the session had open, questions to people among it, has nobody left who could take the answers.
	ErrServerLost = errors.New("the server cannot be reached any more")
	// ErrTooLong is beneath the HTTPError of a request whose answer was longer than HTTPOptions.MaxMessageBytes.
	ErrTooLong = errors.New("the answer is longer than maxMessageBytes allows")
)

// HTTPError is a request that failed below JSON-RPC.
type HTTPError struct {
	// Status of the answer; 0 when none came.
	Status int
	// Text says what happened, in words for people: bounded, without control characters, without header values and
	// queries.
	Text string
	// Delivery tells whether the request may have had effects.
	Delivery Delivery
	// Sent is how often the whole request was written. What was sent before the last time surely did not run; see Repeats.
	Sent int
	// RetryAfter is what the server asked for; 0 when nothing.
	RetryAfter time.Duration
	// Err is the cause beneath, where there is one.
	Err error
}

func (e *HTTPError) Error() string {
	if e.Status == 0 {
		return e.Text
	}
	return fmt.Sprintf("HTTP status %d (%s): %s", e.Status, http.StatusText(e.Status), e.Text)
}

func (e *HTTPError) Unwrap() error { return e.Err }
