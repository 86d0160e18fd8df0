// Package peers starts the MCP servers that the tests run against and that are not ours: servers that other people
// wrote, and small ones of our own on other people's SDKs, which keep a journal of what they saw. Every version is
// pinned in a lock file, or in go.mod.
//
//	Everything, EverythingHTTP, EverythingSSE   @modelcontextprotocol/server-everything   legacy
//	TypeScript1, TypeScript1Stdio               TypeScript SDK 1.x                        legacy, with tasks
//	TypeScript2, TypeScript2Stdio               TypeScript SDK 2.x                        both eras
//	GoSDK, GoSDKStdio                           the official Go SDK                       both eras
//	MCPGo, MCPGoStdio                           mcp-go                                    both eras
//
// The last four have the same tools: slow (works, with progress), ask (a form), sample (the model), ask_then_withdraw;
// TypeScript1 also task and task_ask; MCPGo cannot withdraw, and asks over SSE not at all. `make peers` installs what
// comes from npm; what is missing fails a test and never skips it.
//
// TypeScript1Client and its like are clients on these SDKs, for what is a server to them; Inspector is the command line
// of @modelcontextprotocol/inspector.
//
// What must not live here is any knowledge of the hub.
package peers
