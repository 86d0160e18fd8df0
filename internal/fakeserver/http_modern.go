package fakeserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	headerMethod = "Mcp-Method"
	headerName   = "Mcp-Name"

	codeHeaders    = -32020 // 2026-07-28, basic/index "Error Codes"
	codeCapability = -32021
)

// postModern serves one exchange of 2026-07-28. There is no session. If the client closes the exchange, the call is
// cancelled.
func (x *exchange) postModern() {
	m := x.seen.Message
	if complaint := mirrored(x.r.Header, m); complaint != "" {
		x.http.server.record(m)
		x.refuseCall(m, http.StatusBadRequest, codeHeaders, complaint)
		return
	}
	s := x.http.open(x.http.ctx, false, false)
	defer s.end(errExchanged)
	if !m.IsRequest() {
		s.conn.take([]byte(x.seen.Body), nil)
		x.accepted()
		return
	}
	st := x.http.newStream("", x.act.JSON || x.http.o.JSON && !x.act.SSE)
	call := s.conn.take([]byte(x.seen.Body), st)
	defer func() {
		x.http.mu.Lock()
		closed := x.seen.Closed
		x.http.mu.Unlock()
		if closed {
			call.cancelBy(&CancelledError{Closed: true})
		}
	}()
	if data, isAnswer := st.first(); isAnswer && !x.act.answers() {
		if status := statusOf(data); status != http.StatusOK {
			x.plain(status, typeJSON, data)
			return
		}
	}
	x.respond(st, s)
}

// statusOf returns the HTTP status of an answer that is known before the headers are sent.
func statusOf(answer string) int {
	switch e := parse([]byte(answer), 0).Error; {
	case e == nil:
		return http.StatusOK
	case e.Code == codeMethodNotFound:
		return http.StatusNotFound
	case e.Code == codeInvalidParams, e.Code == codeInvalidRequest, e.Code <= codeHeaders &&
		e.Code >= codeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// refuseCall answers a message with an error that has its id.
func (x *exchange) refuseCall(m Message, status int, code int64, message string) {
	id := m.ID
	if id == nil {
		id = json.RawMessage("null")
	}
	x.plain(status, typeJSON, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, id,
		marshal(Error{Code: code, Message: message})))
}

// mirrored checks that the headers agree with the body (2026-07-28 basic/transports/streamable-http "Request
// Metadata").
func mirrored(header http.Header, m Message) (complaint string) {
	want := map[string]string{headerMethod: m.Method}
	if version := text(member(m.Param("_meta"), metaProtocolVersion)); version != "" || m.IsRequest() {
		want[headerVersion] = version
	}
	if slices.Contains([]string{"tools/call", "prompts/get"}, m.Method) {
		want[headerName] = text(m.Param("name"))
	} else if m.Method == "resources/read" {
		want[headerName] = text(m.Param("uri"))
	}
	for _, name := range []string{headerVersion, headerMethod, headerName} {
		value, needed := want[name]
		got := header.Get(name)
		if encoded, ok := strings.CutPrefix(got, "=?base64?"); ok {
			if plain, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(encoded, "?=")); err == nil {
				got = string(plain)
			}
		}
		if needed && got != value {
			return "header " + name + " does not match the body"
		}
	}
	return ""
}
