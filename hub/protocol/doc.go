// Package protocol holds the names of MCP that both halves of the engine use: its revisions, the names of its methods
// and notifications, its error codes, and the keys of _meta that it reserves.
//
// This package contains what the specification names. What must not live here: any behaviour. The client's half is
// hub/mcp, the server's half hub/mcpserver.
package protocol
