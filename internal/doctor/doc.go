// Package doctor examines an MCP server from outside, for its author or its user: how it starts, which revisions it
// speaks, whether it does what it declares, whether models accept its tools, what happens to a call that is cancelled,
// and how it ends. Each finding contains what was observed, what the specification says about it, and what to do.
//
// It talks to the server like any client, through the hub's own transports and sessions, so its findings apply to users
// of the hub. It calls a tool only if the caller names one, and at most as often as Calls returns.
//
// What must not live here: where servers are configured, and how a report reaches its reader (internal/cli/doctor).
package doctor
