// Package demoserver is the MCP server behind "mcphub demo-server": a tool for every way in which real servers meet
// cancellation.
//
// It is built on the server half of the official Go SDK, a peer that this project did not write, so that the engine is
// never proved against itself alone. [New] builds the server, [Run] serves it over stdio, [RunHTTP] over
// Streamable HTTP of both eras and over the older HTTP with SSE.
//
// What must not live here: any import of the hub, its engine or its contract, and any behaviour that papers over what
// the SDK does on the wire (it answers cancelled requests, for one). The single exception is the reason of a withdrawn
// question, which the SDK cannot send: see conn.go and answer.go.
package demoserver
