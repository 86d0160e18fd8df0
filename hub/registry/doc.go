// Package registry asks a registry of MCP servers, by version v0.1 of the API of the official registry, which is
// frozen, and makes proposals from what it says about a server (server.json).
//
// A registry is not trusted, whoever has chosen its address: its answers are bounded in bytes, entries and time,
// redirects and downloads lead only to addresses that it could reach itself, and nothing that it says is run or written
// here.
package registry
