package mcp

import (
	"bytes"
	"errors"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// refusals are how SDKs word that a tool wanted to send a request of its own in the modern era, where it must ask by a
// result (2026-07-28 basic/patterns/mrtr): the Go SDK 1.8 and mcp-go 1.2. Servers that were written before do so.
var refusals = []string{
	"cannot be sent while serving a request on protocol version " + Revision20260728,
	"server-initiated requests are not supported in protocol version " + Revision20260728,
}

// refusalBytes is how much of an answer is looked at.
const refusalBytes = 16 << 10

// AsksTheOldWay tells whether a call of a session failed because its server asks as servers of the legacy era do.
// result and err are what the call came to.
func (s *Session) AsksTheOldWay(result *CallResult, err error) bool {
	if s == nil || s.Era() != Modern {
		return false
	}
	wire, failed := errors.AsType[*jsonrpc.Error](err)
	for _, text := range refusals {
		switch {
		case failed && strings.Contains(wire.Message[:min(len(wire.Message), refusalBytes)], text),
			err == nil && result.IsError && bytes.Contains(result.Raw[:min(len(result.Raw), refusalBytes)], []byte(text)):
			return true
		}
	}
	return false
}
