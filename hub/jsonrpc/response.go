package jsonrpc

import (
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Response returns the complete response to a request, on one line. If err is an *Error, it is the answer. Any other
// error is not shown to the peer: the answer is then CodeInternalError, and untold is that error. A result that is not
// valid JSON would damage the message around it, and is treated as such an error. refusal is the error in the message,
// or nil if the message has a result.
func Response(id ID, result json.RawMessage, err error) (message []byte, refusal *Error, untold error) {
	switch {
	case errors.As(err, &refusal):
		if len(refusal.Data) > 0 && !jsontext.Valid(refusal.Data) {
			refusal = &Error{Code: refusal.Code, Message: refusal.Message}
		}
	case err == nil && len(result) > 0 && !jsontext.Valid(result):
		err = ErrInvalidJSON
		fallthrough
	case err != nil:
		refusal, untold = &Error{Code: CodeInternalError, Message: "internal error"}, err
	default:
		const around = len(`{"jsonrpc":"2.0","id":,"result":{}}` + "\n")
		return appendResult(make([]byte, 0, around+len(id.raw)+len(result)), id, result), nil, nil
	}
	return appendError(nil, id, refusal), refusal, untold
}
