package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// modern answers one POST of 2026-07-28. The POST belongs to no session, and closing it cancels the request.
func (h *web) modern(w http.ResponseWriter, r *http.Request, method string, m *jsontext.Message) {
	id, request, _ := requestIn(m) // post has checked the error
	switch {
	case method == "":
		http.Error(w, "a client of 2026-07-28 sends no responses", http.StatusBadRequest)
		return
	case !request:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	client, unreadable := readModern(jsontext.Get(m.Params, "_meta"))
	refusal, _ := unreadable.(*jsonrpc.Error) // all its errors are of this type
	// Absent metadata cannot contradict the headers, so its error stays. A mismatch takes precedence over a version that
	// is not supported.
	if refusal == nil || refusal.Code == protocol.CodeUnsupportedVersion {
		if text := mismatch(r.Header, method, m.Params); text != "" {
			refusal = &jsonrpc.Error{Code: protocol.CodeHeaderMismatch, Message: text}
		}
	}
	if refusal != nil {
		refuse(w, http.StatusBadRequest, id, refusal)
		return
	}
	session, fresh := h.s.sessionOf(jsontext.String(jsontext.Get(m.Params, "requestState"))), false
	if session == nil {
		if jsontext.Get(m.Params, "requestState") != nil {
			refuse(w, http.StatusOK, id, errState)
			return
		}
		session, fresh = h.s.newSession(false, nil), true
		if err := h.s.admit(session); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	b := h.s.o.Bounds
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	from := newCarrier(wireRules{modern: true, queue: b.Queue}, h.s.backlog, shareOf(client), cancel)
	defer h.s.backlog.remove(from)
	reads, _ := from.read(postRead{[]jsonrpc.ID{id}})
	served := make(chan struct{})
	go func() { // ends before this function does
		defer close(served)
		routed := session.route(method, m.Params)
		routed.param = headerParams(r.Header)
		result, err := session.serve(ctx, id, method, m.Params, routed, streamLink{from})
		from.apply(answerReady{id, h.s.response(id, method, result, err)})
	}()
	stop := context.AfterFunc(r.Context(), func() {
		cancel(&jsonrpc.WithdrawnError{Reason: "the client closed the stream"})
	})
	left := h.write(w, r, &writing{reader: reads, done: ctx.Done(), plain: true, modern: true})
	stop()
	closed := &jsonrpc.WithdrawnError{Reason: "the client closed the stream"}
	cancel(closed) // no effect on a request that was answered
	<-served
	state := session.parkedBy(id)
	if left { // before it got the round
		h.s.giveUp(state, closed)
	} else if c := watchedIn(r); c != nil && state != "" {
		c.reset.do(func() { h.s.giveUp(state, closed) })
	}
	if fresh {
		go func() { // owned by the server, which waits for its sessions: rounds may outlive the exchange
			session.over()
			session.cancel(nil)
		}()
	}
}

// mismatch checks the headers that must repeat parts of the body (2026-07-28 basic/transports/streamable-http). It
// returns what is wrong, or "".
func mismatch(header http.Header, method string, params json.RawMessage) string {
	version := jsontext.String(jsontext.Get(jsontext.Get(params, "_meta"), protocol.MetaProtocolVersion))
	if v := header.Get("MCP-Protocol-Version"); v != version {
		return "MCP-Protocol-Version does not repeat the version of the body"
	}
	if header.Get("Mcp-Method") != method {
		return "Mcp-Method does not repeat the method of the body"
	}
	name := jsontext.Get(params, "name")
	if method == protocol.MethodReadResource {
		name = jsontext.Get(params, "uri")
	}
	if slices.Contains(askable, method) && plainHeader(header.Get("Mcp-Name")) != jsontext.String(name) {
		return "Mcp-Name does not repeat the name or uri of the body"
	}
	return ""
}

// headerParams returns the arguments that a client repeats in headers, by their header names in lower case (2026-07-28
// basic/transports/streamable-http "Custom Headers from Tool Parameters").
func headerParams(header http.Header) map[string]string {
	params := map[string]string{}
	for name, values := range header {
		if rest, is := strings.CutPrefix(strings.ToLower(name), "mcp-param-"); is && len(values) == 1 {
			params[rest] = plainHeader(values[0])
		}
	}
	return params
}

// streamLink is the link of one POST of a modern client. Questions cannot be sent on it.
type streamLink struct{ to *carrier }

func (l streamLink) tell(of jsonrpc.ID, method string, params json.RawMessage) error {
	l.to.apply(noticeReady{of, jsonrpc.NotificationMessage(method, params)})
	return nil
}

func (streamLink) heard(jsonrpc.ID) bool { return true } // a closed stream ends the request

func (streamLink) ask(context.Context, jsonrpc.ID, string, json.RawMessage) (json.RawMessage, error) {
	return nil, ErrNotAskable
}
