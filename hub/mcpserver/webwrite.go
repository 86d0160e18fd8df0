package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// streamAfter is how long to wait for the answer before the client gets headers and a stream. If the answer is the only
// event until then, it is sent as an ordinary response.
const streamAfter = 100 * time.Millisecond

// writing is one HTTP exchange that writes the events of a stream.
type writing struct {
	*reader
	done   <-chan struct{} // closed at the end of the session or of the request
	plain  bool            // a single answer that comes soon is sent as application/json
	primed bool            // the stream begins with an event without data
	modern bool            // no event ids, and HTTP statuses for some errors
	begun  bool            // the headers are to be written at once, or were
}

// write sends the events of a stream until the stream is over, the client has gone or the session has ended. A client
// that reads nothing for Bounds.Stall counts as gone. It reports whether the client has cancelled its call by leaving.
func (h *web) write(w http.ResponseWriter, r *http.Request, x *writing) (cancelled bool) {
	cut, ended := false, false
	defer func() {
		if cancelled = x.leave(cut, ended); ended && !x.modern {
			x.afterEnd(r)
		}
	}()
	control := http.NewResponseController(w)
	defer func() {
		if !x.begun { // a cancelled request: a stream may end without an answer, an ordinary response may not
			streamHeaders(w)
		}
	}()
	if x.begun && !h.begin(w, control, x) {
		return
	}
	late := time.NewTimer(streamAfter)
	defer late.Stop()
	for {
		switch o := x.next().(type) {
		case write:
			if cut = !h.send(w, r, control, x, o); cut {
				return
			}
			continue
		case finish:
			ended = true
			return
		}
		select {
		case <-x.wake:
		case <-late.C:
			if !x.begun && !h.begin(w, control, x) {
				return
			}
		case <-r.Context().Done():
			return
		case <-x.done:
			return
		}
	}
}

// afterEnd tells the wire when the connection of a stream is closed that was written to its end. A connection that is
// not watched may have been closed already.
func (x *writing) afterEnd(r *http.Request) {
	left := func() { x.apply(streamLeft{x.stream}) }
	if c := watchedIn(r); c != nil {
		c.ended.do(left)
	} else {
		left()
	}
}

// send writes one event, or an ordinary response if it is the only one. It returns false if the client has not got it.
//
// The last byte of a stream is left to the server, which writes it with the end of the response: until then the client
// has nothing that it could act on, so if it leaves before, it has cancelled.
func (h *web) send(w http.ResponseWriter, r *http.Request, control *http.ResponseController, x *writing, o write) bool {
	parts := [][]byte{o.data}
	if x.plain && !x.begun && o.last {
		status := http.StatusOK
		if x.modern {
			status = statusOf(jsontext.Get(jsontext.Get(o.data, "error"), "code"))
		}
		x.begun = true
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(o.data)))
		w.WriteHeader(status)
	} else {
		if !x.begun && !h.begin(w, control, x) {
			return false
		}
		parts = x.frame(o.number, o.data)
	}
	_ = control.SetWriteDeadline(time.Now().Add(h.s.o.Bounds.Stall))
	if len(o.data) >= smallBacklog {
		defer x.watch(control)()
	}
	var end []byte
	if last := &parts[len(parts)-1]; o.last {
		*last, end = (*last)[:len(*last)-1], (*last)[len(*last)-1:]
	}
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return false
		}
	}
	if !o.last {
		return control.Flush() == nil
	}
	if r.Context().Err() != nil {
		return false
	}
	_, err := w.Write(end)
	return err == nil
}

// watch ends a write that lasts when the session or the request ends: it may have ended because too much waits, and
// what is being written is held until then. The result ends the watch.
func (x *writing) watch(control *http.ResponseController) (stop func()) {
	written, watched := make(chan struct{}), make(chan struct{})
	go func() { // waited for by stop
		defer close(watched)
		select {
		case <-x.done:
			_ = control.SetWriteDeadline(time.Now())
		case <-written:
		}
	}()
	return func() {
		close(written)
		<-watched
	}
}

// begin writes the headers of a stream, and to a client that has said 2025-11-25 with a single request an event without
// data: with its id the client can resume the stream. Earlier revisions do not have it, and a client that says no
// revision, such as VS Code's, takes it for a broken message.
func (h *web) begin(w http.ResponseWriter, control *http.ResponseController, x *writing) bool {
	x.begun = true
	streamHeaders(w)
	_ = control.SetWriteDeadline(time.Now().Add(h.s.o.Bounds.Stall))
	if x.primed {
		if _, err := w.Write([]byte("id: " + x.eventID(x.after) + "\ndata:\n\n")); err != nil {
			return false
		}
	}
	return control.Flush() == nil
}

func streamHeaders(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
}

// eventID names an event of a stream, for its follower if it can have several.
func (x *writing) eventID(n int) string {
	id := strconv.Itoa(x.stream) + "-" + strconv.Itoa(n)
	if x.follower > 0 {
		id += "-" + strconv.Itoa(x.follower)
	}
	return id
}

// parseEventID returns a zero stream for what is no id of an event.
func parseEventID(id string) (from readerCame) {
	parts := strings.Split(id, "-")
	numbers := make([]int, 3)
	if len(parts) != 2 && len(parts) != 3 {
		return from
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return from
		}
		numbers[i] = n
	}
	return readerCame{numbers[0], numbers[1], numbers[2]}
}

// frame returns one event, in parts if it is large: it is not copied then. Every message is one line: package jsonrpc
// ensures that.
func (x *writing) frame(n int, data []byte) [][]byte {
	small := len(data) < smallBacklog
	room := 64
	if small {
		room += len(data)
	}
	b := make([]byte, 0, room)
	if !x.modern {
		b = append(append(append(b, "id: "...), x.eventID(n)...), '\n')
	}
	b = append(b, "data: "...)
	if small {
		return [][]byte{append(append(b, data...), '\n', '\n')}
	}
	return [][]byte{b, data, []byte("\n\n")}
}

// statusOf returns the HTTP status that belongs to an error code since 2026-07-28.
func statusOf(code json.RawMessage) int {
	switch n, _ := strconv.Atoi(string(code)); n {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case protocol.CodeHeaderMismatch, protocol.CodeMissingCapability, protocol.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func refuse(w http.ResponseWriter, status int, id jsonrpc.ID, e *jsonrpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	message, _, _ := jsonrpc.Response(id, nil, e)
	_, _ = w.Write(message) // if the client has gone, it needs no refusal
}

// response returns the response to a request over HTTP. It logs an error that is not sent to the client.
func (s *Server) response(id jsonrpc.ID, method string, result json.RawMessage, err error) []byte {
	message, _, untold := jsonrpc.Response(id, result, err)
	withdrawn, ended := (*jsonrpc.WithdrawnError)(nil), (*SessionEndedError)(nil)
	if untold != nil && !errors.As(untold, &withdrawn) && !errors.As(untold, &ended) {
		s.log.Error("a request could not be answered", "method", bounds.Printable(method),
			"error", bounds.Printable(untold.Error()))
	}
	return message
}

// plainHeader decodes a header value that is not plain text (2026-07-28 basic/transports/streamable-http "Value
// Encoding").
func plainHeader(value string) string {
	inner, begun := strings.CutPrefix(value, "=?base64?")
	inner, ended := strings.CutSuffix(inner, "?=")
	if text, err := base64.StdEncoding.DecodeString(inner); begun && ended && err == nil {
		return string(text)
	}
	return value
}
