package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// answerTo parses a message that came in answer to the request id, and reports whether it is the answer. With batches,
// the answer may be an element of an array. An error whose id is missing or null is about the request (JSON-RPC 2.0
// section 5; 2025-11-25 basic, "Responses"), and gets its id. A message that is not JSON-RPC 2.0 is no answer: the
// receiver would ignore it, and the request would wait for ever.
func answerTo(id string, message []byte, batches bool) (r Received, answered bool) {
	var reader jsontext.Reader
	r = Received{Body: message, Stream: id}
	m := &r.Message
	switch r.Kind = reader.Message(message, m); r.Kind {
	case jsontext.Single, jsontext.Deep:
	case jsontext.Array:
		return r, batches && answeredIn(&reader, message, id)
	default:
		return r, false
	}
	about := m.ID == nil || jsontext.IsNull(m.ID)
	switch {
	case jsontext.String(m.Version) != "2.0" || m.Method != nil || m.Result == nil && m.Error == nil:
		return r, false
	case string(m.ID) == id:
		return r, true
	case !about || m.Error == nil || r.Kind != jsontext.Single:
		return r, false
	}
	r.Body = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`+id+`,"error":`), m.Error, []byte{'}'})
	r.Message, r.Kind = jsontext.Message{}, jsontext.Invalid // Body is another text now
	return r, true
}

// answeredIn reports whether an element of array is the answer to the request id.
func answeredIn(r *jsontext.Reader, array []byte, id string) (answered bool) {
	var m jsontext.Message
	jsontext.Elements(array, func(element json.RawMessage) bool {
		answered = r.Message(element, &m) == jsontext.Single && jsontext.String(m.Version) == "2.0" && m.Method == nil &&
			(m.Result != nil || m.Error != nil) && string(m.ID) == id
		return !answered
	})
	return answered
}

// rpcError is the error of a JSON-RPC message.
type rpcError struct {
	Code    float64
	Message string
}

// errorIn returns the JSON-RPC error in a body that may be anything.
func errorIn(body []byte) (e rpcError, ok bool) {
	var r jsontext.Reader
	var m jsontext.Message
	if r.Message(body, &m) != jsontext.Single || jsontext.String(m.Version) != "2.0" || m.Error == nil {
		return rpcError{}, false
	}
	ok = jsontext.Members(m.Error, func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case "code":
			e.Code, _ = strconv.ParseFloat(string(value), 64)
		case "message":
			e.Message = jsontext.String(value)
		}
		return true
	})
	return e, ok
}

// aboutMethod reports whether the error is about the request, so that a 404 with this error is not about the session
// (2026-07-28 basic/index "Error Codes").
func (e rpcError) aboutMethod() bool {
	return e.Code == -32601 || e.Code <= -32020 && e.Code >= -32022
}

const (
	// maxRefusal is how much of the body of a refusal is read; a JSON-RPC error is far smaller.
	maxRefusal = 1 << 20
	// excerptSource is how many bytes of a peer's text are examined for an error, and excerptBytes bounds how many the
	// error quotes.
	excerptSource = 4 << 10
	excerptBytes  = 200
	// firstRead is the size of the first buffer for a body. A longer body gets one of busyEventBuffer bytes.
	firstRead = 4 << 10
	// maxDiscard is how many bytes are read of a body that is not needed, so that its connection can be reused.
	maxDiscard = 16 << 10
)

// mediaType returns the content type without parameters, in lower case.
func mediaType(h http.Header) string {
	switch v := h.Get("Content-Type"); v {
	case "application/json", "text/event-stream":
		return v
	default:
		v, _, _ = strings.Cut(v, ";")
		return strings.ToLower(strings.TrimSpace(v))
	}
}

// readBody reads a body that is one message of at most limit bytes. The bytes are charged to hold before they are read.
// After an error nothing is held.
func readBody(resp *http.Response, limit int, hold *bounds.Hold) (_ []byte, httpErr *HTTPError) {
	defer func() {
		if httpErr != nil {
			hold.Release()
		}
	}()
	tooLong := func(size string) *HTTPError {
		return &HTTPError{Status: resp.StatusCode, Text: fmt.Sprintf("the answer has %s bytes; maxMessageBytes allows %d",
			size, limit), Delivery: MayHaveRun, Err: ErrTooLong}
	}
	var (
		text bounds.Text
		err  error
	)
	if n := resp.ContentLength; n >= 0 {
		if n > int64(limit) {
			return nil, tooLong(fmt.Sprint(n))
		}
		if err := text.Reserve(int(n), hold); err != nil {
			return nil, noRoom(err)
		}
		if err = readAll(&text, resp.Body, int(n), hold); err == nil && text.Len() < int(n) {
			err = io.ErrUnexpectedEOF
		}
		// Read the end of the body, too, so that HTTP/2 does not reset a stream that is over.
		var none [1]byte
		_, _ = resp.Body.Read(none[:])
	} else if err = readAll(&text, resp.Body, limit+1, hold); text.Len() > limit {
		return nil, tooLong("more")
	}
	if exceeded, ok := errors.AsType[*bounds.Exceeded](err); ok {
		return nil, noRoom(exceeded)
	}
	if err != nil {
		return nil, &HTTPError{Status: resp.StatusCode, Text: "the answer broke off: " + excerpt([]byte(err.Error())),
			Delivery: MayHaveRun, Err: err}
	}
	return text.Take(), nil
}

// readAll reads r to its end, but at most limit bytes.
func readAll(text *bounds.Text, r io.Reader, limit int, hold *bounds.Hold) error {
	buf := make([]byte, min(firstRead, limit))
	for text.Len() < limit {
		n, err := r.Read(buf[:min(len(buf), limit-text.Len())])
		if noRoom := text.Add(buf[:n], limit, hold); noRoom != nil {
			return noRoom
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n == len(buf) && n < busyEventBuffer:
			buf = make([]byte, busyEventBuffer)
		}
	}
	return nil
}

// noRoom returns the error for an answer that was not read because HTTPOptions.Results has no room for it. The request
// has run.
func noRoom(err error) *HTTPError {
	return &HTTPError{Text: err.Error(), Delivery: MayHaveRun, Err: err}
}

// readRefusal reads the body of a response whose status is no success, and returns it with an error that describes
// both. It does not close the body.
func readRefusal(resp *http.Response) (body []byte, httpErr *HTTPError) {
	httpErr = &HTTPError{Status: resp.StatusCode, Delivery: refusalDelivery(resp.StatusCode)}
	httpErr.RetryAfter, _ = retryAfter(resp.Header)
	if mediaType(resp.Header) != "text/event-stream" {
		body, _ = io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	}
	text := excerpt(body)
	if m, ok := errorIn(body); ok && m.Message != "" {
		text = excerpt([]byte(m.Message))
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		httpErr.Text = "the server wants a sign-in: sign in, or put a token into headers"
	case http.StatusForbidden:
		httpErr.Text = "the server refuses access: what headers or the sign-in give is not enough"
	default:
		if httpErr.Text = "the server refused the request"; resp.Request.Method == http.MethodGet {
			httpErr.Text = "the server opened no event stream"
		}
	}
	if text != "" {
		httpErr.Text += ": " + text
	}
	return body, httpErr
}

// refusalDelivery returns NotSent for a status that means that the server did not process the request, else MayHaveRun.
func refusalDelivery(status int) Delivery {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable,
		http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusUnsupportedMediaType,
		http.StatusMisdirectedRequest, http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge:
		return NotSent
	}
	return MayHaveRun
}

// discard reads at most maxDiscard bytes of a body that is not needed, and closes it.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxDiscard)
	_ = body.Close()
}

// excerpt returns the beginning of a peer's text in a form for people: one line, no markup, no control characters, cut
// at excerptBytes.
func excerpt(text []byte) string {
	text = text[:min(len(text), excerptSource)]
	if trimmed := bytes.TrimLeft(text, " \t\r\n\ufeff"); len(trimmed) > 0 && trimmed[0] == '<' {
		text = withoutTags(trimmed)
	}
	var b strings.Builder
	blank := false
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = ' '
		}
		if r == ' ' {
			blank = b.Len() > 0
			continue
		}
		if b.Len() >= excerptBytes {
			b.WriteString("…")
			break
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// withoutTags returns the text between the tags of an HTML page.
func withoutTags(page []byte) []byte {
	var text []byte
	for len(page) > 0 {
		before, rest, tag := bytes.Cut(page, []byte{'<'})
		text = append(append(text, before...), ' ')
		if !tag {
			break
		}
		_, page, _ = bytes.Cut(rest, []byte{'>'})
	}
	return text
}
