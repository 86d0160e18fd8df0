package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// PostError is what SSE.ReadMessage gives for one message that could not be delivered: no answer to it will come. Reading goes
// on. Err.Delivery tells whether it may have had effects all the same.
type PostError struct {
	Message []byte // as it was given to WriteMessages
	Err     *HTTPError
}

func (e *PostError) Error() string { return "a message was not delivered: " + e.Err.Error() }
func (e *PostError) Unwrap() error { return e.Err }

// MessageTooLongError is what ReadMessage gives in place of a message beyond HTTPOptions.MaxMessageBytes. Reading goes on.
type MessageTooLongError struct {
	Limit int    // bytes allowed
	Size  int64  // bytes that came
	Head  []byte // the first bytes of the message, at most 4 KiB
	Tail  []byte // the last bytes of the message, at most 4 KiB
}

func (e *MessageTooLongError) Error() string {
	return fmt.Sprintf("a message of %d bytes is longer than the limit of %d", e.Size, e.Limit)
}

// refusal is the error of an answer that is none of those hoped for. It reads from the body, and does not close it.
func refusal(resp *http.Response, text string) *HTTPError {
	e := &HTTPError{Status: resp.StatusCode, Text: text, RetryAfter: askedWait(resp.Header, time.Now())}
	if resp.StatusCode >= 500 {
		e.Delivery = MayHaveRun // who fails may have begun
	}
	// A page for browsers says nothing to who reads one line of it.
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/plain" || kind == "application/json" {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 4*maxErrorText))
		if words := bounded(string(said)); words != "" {
			e.Text += ": " + words
		}
	}
	return e
}

// unreachable is the error of an exchange without an answer.
func unreachable(ctx context.Context, err error) *HTTPError {
	e := &HTTPError{Delivery: MayHaveRun, Err: err}
	var dial *net.OpError
	switch {
	case ctx.Err() != nil:
		e.Err = context.Cause(ctx)
		e.Text = bounded(e.Err.Error())
	case errors.As(err, &dial) && dial.Op == "dial":
		e.Delivery = NotSent
		e.Text = "the server cannot be reached: " + bounded(err.Error())
	default:
		e.Text = "the server gave no answer: " + bounded(err.Error())
	}
	return e
}

// failureOf is err as the *HTTPError that it is nearly always.
func failureOf(err error) *HTTPError {
	var failure *HTTPError
	if !errors.As(err, &failure) {
		failure = &HTTPError{Text: bounded(err.Error()), Delivery: MayHaveRun, Err: err}
	}
	return failure
}

// askedWait reads Retry-After, in seconds or as a date (RFC 9110 section 10.2.3); 0 for none.
func askedWait(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// origin is scheme, host and port in one spelling, so that origins can be compared (RFC 6454 section 5).
func origin(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	switch {
	case port == "" && scheme == "http":
		port = "80"
	case port == "" && scheme == "https":
		port = "443"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// maxErrorText is how many characters of somebody else's words go into an error.
const maxErrorText = 200

// bounded makes somebody else's words fit for an error: one line, printable, not long.
func bounded(text string) string {
	words := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(words); len(runes) > maxErrorText {
		return string(runes[:maxErrorText]) + "…"
	}
	return words
}
