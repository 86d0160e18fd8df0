// Package protocol is the vocabulary of MCP that both halves of the engine speak: its revisions, the names of its
// methods and notifications, its error codes, and the keys of _meta that it reserves.
//
// What lives here is what the specification spells. What must not: any behaviour. The client's half is hub/mcp, the
// server's half hub/mcpserver.
package protocol
