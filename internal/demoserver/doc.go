// Package demoserver is the MCP server behind "mcphub demo-server". It has a tool for every way in which real servers
// handle cancellation.
//
// It uses the server half of the official Go SDK, a peer that this project did not write. Otherwise the engine would
// only be tested against itself. [New] builds the server, [Run] serves it over stdio, and [RunHTTP] serves it over
// Streamable HTTP of both eras and over the older HTTP with SSE.
//
// What must not live here: any import of the hub, its engine or its contract, and any behaviour that hides what the SDK
// does on the wire (for example, it answers cancelled requests). The only exception is the reason of a withdrawn
// question, which the SDK cannot send: see conn.go and answer.go.
package demoserver
