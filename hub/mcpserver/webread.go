package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
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

// longestMethod is the longest name of a method in bytes, including quotes. A longer name would be copied several times
// only to be found unknown.
const longestMethod = 512

// readBody reads the body of a POST. A body of usual length is read into one allocation. A larger Content-Length is not
// trusted: memory is then allocated as bytes arrive, but no more than it says.
func readBody(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	const firstPiece = 8 << 10
	body, announced := http.MaxBytesReader(w, r.Body, int64(most)), int(min(max(r.ContentLength, 0), int64(most)))
	b := make([]byte, 0, min(announced, firstPiece)+bytes.MinRead)
	for {
		if len(b) == cap(b) {
			size := 2 * cap(b)
			if announced >= cap(b) {
				size = min(size, announced+1) // with room for the read that finds the end
			}
			b = append(make([]byte, 0, size), b...)
		}
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// requestIn returns the id of a message if it is a request. refusal is the error if it is no valid message: on a stream
// such a message is only counted, but a POST needs an answer.
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

// requestsIn returns the ids of the requests that a legacy client has posted. More than most are refused.
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
