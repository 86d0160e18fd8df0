package fakeserver

import (
	"encoding/json"
	"strconv"
	"strings"
)

const (
	methodCancelled       = "notifications/cancelled"
	methodProgress        = "notifications/progress"
	methodMessage         = "notifications/message"
	methodToolsChanged    = "notifications/tools/list_changed"
	methodSubscriptionAck = "notifications/subscriptions/acknowledged"

	metaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	metaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServerInfo         = "io.modelcontextprotocol/serverInfo"
	metaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"

	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeUnsupportedVersion = -32022 // 2026-07-28, basic/index "Error Codes"

	cursorPrefix = "page:"
)

// behaviour finds the handler of a request. Overrides take precedence over everything, including the refusals of the
// handshake. A quick handler answers at once and runs in the reader, so that such requests are answered in the order of
// arrival.
func (c *conn) behaviour(m Message) (h Handler, quick bool) {
	s := c.server
	s.mu.Lock()
	override := s.handlers[m.Method]
	s.mu.Unlock()
	switch {
	case override != nil:
		if m.Method == "initialize" {
			c.handshake(eraLegacy)
		}
		return override, false
	case m.Method == "initialize":
		return c.initialize(m), true
	case m.Method == "server/discover":
		return c.discover(), true
	}
	if refusal := c.admit(m); refusal != nil {
		return refusal, true
	}
	switch m.Method {
	case "tools/list":
		return listTools, true
	case "tools/call":
		return callTool, false
	case "subscriptions/listen":
		return listen, false
	case "ping":
		if !c.modern() {
			return func(c *CallContext) { c.Result(`{}`) }, true
		}
	case "logging/setLevel":
		if !c.modern() {
			return setLevel, true
		}
	}
	return refuse(codeMethodNotFound, "method not found: "+m.Method), true
}

func refuse(code int64, message string) Handler {
	return func(c *CallContext) { c.Error(code, message) }
}

// admit checks what each request must have: a finished handshake in the legacy era (2025-11-25, basic/lifecycle), the
// _meta in the modern era (2026-07-28, basic/index). A request with the modern _meta makes the connection modern if the
// server is modern.
func (c *conn) admit(m Message) Handler {
	meta := m.Param("_meta")
	version := text(member(meta, metaProtocolVersion))
	if c.server.cfg.probe == probeAnswer && (version != "" || !c.server.cfg.legacy) {
		switch {
		case version == "" || member(meta, metaClientCapabilities) == nil:
			return refuse(codeInvalidParams, "_meta lacks the protocol version or the client's capabilities")
		case version != RevisionModern:
			return func(call *CallContext) {
				call.ErrorData(codeUnsupportedVersion, "unsupported protocol version", string(marshal(map[string]any{
					"supported": []string{RevisionModern}, "requested": version,
				})))
			}
		}
		c.handshake(eraModern)
		return nil
	}
	if c.era() == eraNone && !c.server.cfg.lenient && m.Method != "ping" {
		return refuse(codeInvalidRequest, "not initialized")
	}
	return nil
}

func (c *conn) initialize(m Message) Handler {
	cfg := c.server.cfg
	if !cfg.legacy {
		return refuse(codeMethodNotFound, "method not found: initialize")
	}
	if c.era() == eraLegacy {
		return refuse(codeInvalidRequest, "duplicate initialize")
	}
	c.handshake(eraLegacy)
	rev := cfg.revision
	if rev == "" {
		rev = text(m.Param("protocolVersion"))
		if !legacyRevisions[rev] {
			rev = RevisionLatestLegacy
		}
	}
	res := map[string]any{
		"protocolVersion": rev,
		"capabilities":    cfg.capabilities,
		"serverInfo":      cfg.info(),
	}
	if cfg.instructions != "" {
		res["instructions"] = cfg.instructions
	}
	return func(call *CallContext) { call.Result(string(marshal(res))) }
}

func (c *conn) discover() Handler {
	cfg := c.server.cfg
	switch cfg.probe {
	case probeAnswer:
		res := map[string]any{
			"resultType":        "complete",
			"supportedVersions": []string{RevisionModern},
			"capabilities":      cfg.capabilities,
			"ttlMs":             0,
			"cacheScope":        "private",
			"_meta":             map[string]any{metaServerInfo: cfg.info()},
		}
		if cfg.instructions != "" {
			res["instructions"] = cfg.instructions
		}
		c.handshake(eraModern)
		return func(call *CallContext) { call.Result(string(marshal(res))) }
	case probeSilent:
		return func(*CallContext) {}
	case probeExit:
		return func(call *CallContext) { call.Disconnect() }
	default:
		return refuse(codeMethodNotFound, "method not found: server/discover")
	}
}

func (c config) info() map[string]any { return map[string]any{"name": c.name, "version": c.version} }

func listTools(c *CallContext) {
	s := c.conn.server
	s.mu.Lock()
	all := make([]json.RawMessage, 0, len(s.tools))
	for _, t := range s.tools {
		all = append(all, t.definition)
	}
	s.mu.Unlock()

	start := 0
	if raw := c.Param("cursor"); raw != nil {
		n, err := strconv.Atoi(strings.TrimPrefix(text(raw), cursorPrefix))
		if err != nil || !strings.HasPrefix(text(raw), cursorPrefix) || n < 0 || n > len(all) {
			c.Error(codeInvalidParams, "invalid cursor")
			return
		}
		start = n
	}
	end := len(all)
	if size := s.cfg.pageSize; size > 0 {
		end = min(start+size, end)
	}
	res := map[string]any{"tools": all[start:end]}
	if end < len(all) {
		res["nextCursor"] = cursorPrefix + strconv.Itoa(end)
	}
	if c.conn.modern() {
		res["resultType"], res["ttlMs"], res["cacheScope"] = "complete", 0, "private"
	}
	c.Result(string(marshal(res)))
}

func callTool(c *CallContext) {
	name := text(c.Param("name"))
	s := c.conn.server
	s.mu.Lock()
	var h Handler
	if i := s.toolIndex(name); i >= 0 {
		h = s.tools[i].handler
	}
	s.mu.Unlock()
	if h == nil {
		c.Error(codeInvalidParams, "unknown tool: "+name)
		return
	}
	h(c)
}

func setLevel(c *CallContext) {
	level := text(c.Param("level"))
	if level == "" {
		c.Error(codeInvalidParams, "level is missing")
		return
	}
	s := c.conn.server
	s.mu.Lock()
	s.level = level
	s.mu.Unlock()
	c.Result(`{}`)
}
