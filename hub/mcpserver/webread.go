package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

var (
	errNoMessage = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no JSON-RPC 2.0 message"}
	errNoBatch   = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
		Message: "batches belong to " + protocol.Revision20250326 + " alone"}
	errLongMethod = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the method's name is too long"}
	errLargeBatch = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "too many requests in one batch"}
)

// longestMethod is the longest name of a method in bytes, quotes included: what is longer would be copied several times
// only to be unknown.
const longestMethod = 512

// readBody reads what was posted, into one piece where it is as short as messages are. Beyond that a length is not
// believed: room is made as bytes come.
func readBody(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	const firstPiece = 8 << 10
	var b bytes.Buffer
	b.Grow(int(min(max(r.ContentLength, 0), int64(most), firstPiece)) + bytes.MinRead)
	_, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, int64(most)))
	return b.Bytes(), err
}

// requestIn tells whether a message is a request, and which. The error says that it is nothing that a peer reads:
// behind a stream, such a message is only counted, but a POST waits for the answer to its request.
func requestIn(m *jsontext.Message) (id jsonrpc.ID, request bool, refusal *jsonrpc.Error) {
	if jsontext.String(m.Version) != "2.0" {
		return id, false, errNoMessage
	}
	if m.Method == nil {
		return id, false, nil
	}
	if len(m.Method) > longestMethod {
		return id, false, errLongMethod
	}
	if jsontext.String(m.Method) == "" {
		return id, false, errNoMessage
	}
	if m.ID == nil {
		return id, false, nil
	}
	id, err := jsonrpc.ParseID(m.ID)
	if err != nil {
		return id, false, errNoMessage
	}
	return id, true, nil
}

// requestsIn are the ids of the requests in what a legacy client has posted, at most most.
func requestsIn(body []byte, kind jsontext.Kind, m *jsontext.Message, revision string, most int) (ids []jsonrpc.ID,
	refusal *jsonrpc.Error) {
	note := func(m *jsontext.Message) {
		id, request, err := requestIn(m)
		switch {
		case err != nil:
			refusal = err
		case request && len(ids) == most:
			refusal = errLargeBatch
		case request:
			ids = append(ids, id)
		}
	}
	if kind == jsontext.Single {
		note(m)
		return ids, refusal
	}
	if revision != protocol.Revision20250326 {
		return nil, errNoBatch
	}
	var reader jsontext.Reader
	jsontext.Elements(body, func(element json.RawMessage) bool {
		var one jsontext.Message
		if reader.Message(element, &one) != jsontext.Single {
			refusal = errNoMessage
		} else {
			note(&one)
		}
		return refusal == nil
	})
	return ids, refusal
}
