// Package peers starts the MCP servers of other authors against which the tests run: complete servers, and small ones
// of this project with other authors' SDKs, which keep a journal of what they observe. Every version is pinned in a
// lock file, or in go.mod.
//
//	Everything, EverythingHTTP, EverythingSSE   @modelcontextprotocol/server-everything   legacy
//	TypeScript1, TypeScript1Stdio               TypeScript SDK 1.x                        legacy, with tasks
//	TypeScript2, TypeScript2Stdio               TypeScript SDK 2.x                        both eras
//	GoSDK, GoSDKStdio                           the official Go SDK                       both eras
//	MCPGo, MCPGoStdio                           mcp-go                                    both eras
//
// The last four have the same tools: slow (works, with progress), ask (a form), sample (the model), ask_then_withdraw;
// TypeScript1 also task and task_ask. MCPGo cannot withdraw, and cannot ask over SSE. `make peers` installs the npm
// packages. If something is missing, the test fails; it is never skipped. That these servers do what tests rely on is
// tested at night: it changes only with their versions.
//
// TypeScript1Client and the like are clients with these SDKs, for tests of hub parts that act as a server. Inspector is
// the command line of @modelcontextprotocol/inspector.
//
// What must not live here: any knowledge of the hub.
package peers
