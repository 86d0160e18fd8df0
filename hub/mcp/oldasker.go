package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// refusals are the texts of SDKs for a tool that tried to send a request of its own in the modern era, where it must
// ask by a result (2026-07-28 basic/patterns/mrtr): the Go SDK 1.8 and mcp-go 1.2. Servers that were written for the
// legacy era do so.
var refusals = []string{
	"cannot be sent while serving a request on protocol version " + Revision20260728,
	"server-initiated requests are not supported in protocol version " + Revision20260728,
}

// refusalBytes is how many bytes of an answer are searched.
const refusalBytes = 16 << 10

// AskedTheOldWay reports whether a call of a session failed because its server asks as in the legacy era. said is then
// the text of the server: the message of its error, or the texts of its result. result and err are the outcome of the
// call.
func (s *Session) AskedTheOldWay(result *CallResult, err error) (said string, asked bool) {
	if s == nil || s.Era() != Modern {
		return "", false
	}
	wire, failed := errors.AsType[*jsonrpc.Error](err)
	for _, text := range refusals {
		switch {
		case failed && strings.Contains(wire.Message[:min(len(wire.Message), refusalBytes)], text):
			return bounds.Cut(wire.Message, bounds.ErrorTextBytes), true
		case err == nil && result.IsError && bytes.Contains(result.Raw[:min(len(result.Raw), refusalBytes)], []byte(text)):
			return texts(result.Raw), true
		}
	}
	return "", false
}

// texts returns the texts of a tool's result, cut to what an error may hold.
func texts(result []byte) string {
	var b strings.Builder
	jsontext.Elements(jsontext.Get(result, "content"), func(part json.RawMessage) bool {
		if text := jsontext.Get(part, "text"); jsontext.IsString(text) {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(jsontext.String(text))
		}
		return b.Len() < bounds.ErrorTextBytes
	})
	return bounds.Cut(b.String(), bounds.ErrorTextBytes)
}
