package mcp

import (
	"crypto/rand"
	"strconv"
)

// takeToken creates the progress token of a round and marks the call as on the wire. Tokens must be unique among the
// active requests (basic/utilities/progress). They are strings, because every JSON library preserves a string.
//
// The token of a call that asks for a task can outlive the session, so it must also be unique among the tokens of other
// sessions.
func (s *Session) takeToken(call *openCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call.onWire = true
	if call.req.OnProgress == nil {
		return
	}
	s.tokens++
	call.held = `"p` + strconv.FormatUint(s.tokens, 10)
	if call.augmented {
		call.held += "-" + rand.Text()
	}
	call.held += `"`
	s.progress[call.held] = call
}

// holdToken assigns to a call the token that it had in another session.
func (s *Session) holdToken(call *openCall, token string) {
	s.mu.Lock()
	call.onWire = true
	call.held = token
	s.progress[token] = call
	s.mu.Unlock()
	call.gate.Lock()
	call.token = token
	call.gate.Unlock()
}

func (s *Session) dropToken(call *openCall) {
	s.mu.Lock()
	call.onWire = false
	delete(s.progress, call.held)
	s.mu.Unlock()
	call.held = ""
	call.gate.Lock()
	call.token = ""
	call.gate.Unlock()
}
