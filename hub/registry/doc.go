// Package registry asks a registry of MCP servers, by the API that the official one has frozen as v0.1, and makes
// proposals of what it says of a server (server.json).
//
// A registry is a stranger, whoever has chosen its address: its answers are bounded in bytes, entries and time,
// redirects and downloads lead nowhere that it could not reach itself, and nothing of what it says is run or written
// here.
package registry
