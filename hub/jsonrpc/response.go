package jsonrpc

import (
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Response is the complete response to a request, on one line. When err is an *Error that is the answer; any other one
// is told to nobody outside: the answer is CodeInternalError then, and untold is what was not said. A result that is no
// JSON would damage the message around it and counts as such an error. refusal is the error that the message carries,
// nil when it carries a result.
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
		const around = len(`{"jsonrpc":"2.0","id":,"result":{}}`)
		return appendResult(make([]byte, 0, around+len(id.raw)+len(result)), id, result), nil, nil
	}
	return appendError(nil, id, refusal), refusal, untold
}

// NotificationMessage is a complete notification, on one line; params must be valid JSON, or none.
func NotificationMessage(method string, params json.RawMessage) []byte {
	return appendNotification(nil, method, params)
}
