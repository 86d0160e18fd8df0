// Package doctor examines an MCP server from outside, as its author or its user needs it: how it starts, what it
// speaks, whether it does what it declares, whether models accept its tools, what becomes of a call that is cancelled,
// and how it ends. Each finding says what was seen, what the specification says about it, and what to do.
//
// It speaks to the server as any client would, through the hub's own transports and sessions, so that what it sees is
// what a user of the hub has. Tools are called only when the caller names one, and as often as Calls says.
//
// What does not belong here: where servers are configured, and how a report gets to its reader (cmd/mcphub).
package doctor
