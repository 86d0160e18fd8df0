package mcp

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// object builds a JSON object member by member. The values are JSON text.
type object struct {
	b     []byte
	empty bool
}

func newObject(size int) *object {
	return &object{b: append(make([]byte, 0, size), '{'), empty: true}
}

func (o *object) name(name string) {
	if !o.empty {
		o.b = append(o.b, ',')
	}
	o.empty = false
	o.b = jsontext.AppendString(o.b, name)
	o.b = append(o.b, ':')
}

func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.b = append(o.b, value...)
}

func (o *object) text(name, value string) {
	o.name(name)
	o.b = jsontext.AppendString(o.b, value)
}

func (o *object) end() []byte { return append(o.b, '}') }

// requestMeta returns the _meta of one request, and the capabilities that the request declares to the server. The keys
// come from the caller and from the session, which takes precedence. _meta is nil if it would be empty.
//
// A modern request MUST carry the protocol version and the client's capabilities and SHOULD name the client (2026-07-28
// basic/index); a modern server logs for a request only if that request carries a level.
func (s *Session) requestMeta(given map[string]json.RawMessage, token string) ([]byte, Capabilities) {
	n := s.state.Load()
	modern := n.era == Modern
	if len(given) == 0 && token == "" && !modern {
		return nil, n.declared
	}
	size := 64
	if modern {
		size = 384
	}
	meta := newObject(size)
	level := ""
	if modern {
		level = moreTalkative(s.logLevel(), stringOf(given[protocol.MetaLogLevel]))
	}
	if len(given) > 0 {
		for _, k := range slices.Sorted(maps.Keys(given)) {
			if !ownMeta(k, modern) {
				meta.raw(k, oneLine(given[k]))
			}
		}
	}
	if token != "" {
		meta.raw(protocol.MetaProgressToken, []byte(token))
	}
	declared := n.declared
	if modern {
		declared = s.capabilities().at(Revision20260728)
		s.appendModernMeta(meta, declared, level)
	}
	return meta.end(), declared
}

func (s *Session) appendModernMeta(meta *object, declared Capabilities, level string) {
	meta.text(protocol.MetaProtocolVersion, Revision20260728)
	meta.raw(protocol.MetaClientInfo, s.clientInfo)
	meta.name(protocol.MetaCapabilities)
	meta.b = declared.appendTo(meta.b, Revision20260728)
	if level != "" {
		meta.text(protocol.MetaLogLevel, level)
	}
}

// moreTalkative returns the lower of two log levels, with which more is logged. Either may be "".
func moreTalkative(a, b string) string {
	i, j := slices.Index(logLevels, a), slices.Index(logLevels, b)
	if i < 0 || j >= 0 && j < i {
		return b
	}
	return a
}

func ownMeta(key string, modern bool) bool {
	switch key {
	case protocol.MetaProgressToken:
		return true
	case protocol.MetaProtocolVersion, protocol.MetaClientInfo, protocol.MetaCapabilities:
		return modern
	case protocol.MetaLogLevel: // the session sends it: see moreTalkative
		return true
	}
	return false
}

// plainParams returns the params of a request with the given members, as pairs of name and JSON text, and _meta.
func (s *Session) plainParams(members ...string) json.RawMessage {
	return s.paramsWith(nil, members...)
}

// paramsWith is plainParams with keys of _meta.
func (s *Session) paramsWith(given map[string]json.RawMessage, members ...string) json.RawMessage {
	o := newObject(64)
	for i := 0; i+1 < len(members); i += 2 {
		o.raw(members[i], []byte(members[i+1]))
	}
	if meta, _ := s.requestMeta(given, ""); meta != nil {
		o.raw("_meta", meta)
	}
	return o.end()
}
