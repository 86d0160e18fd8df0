// Package mcp has mcphub mcp: all servers as one MCP server, and what to paste into the settings of its clients.
//
// What must not live here: the gateway (ipc/gateway).
package mcp
