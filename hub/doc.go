// Package hub is the domain of McpHub: requests and their cancellation, prompts, windows, servers and approval policy.
//
// A [Hub] owns every request that can be cancelled, in both directions. One lock guards one state: each request,
// prompt, window and server changes through one transition function, emits its events under that lock, in order, to the
// sinks of the attached windows, and never waits while holding it. Races (an answer against a withdrawal, a cancel
// against a response) are resolved by taking: whoever takes the prompt or the terminal state out of the table acts,
// everybody else finds nothing.
//
// A server that a workspace brings starts only after the user has agreed to what would run. References in a config are
// resolved when the server starts, and the values are not kept. A redactor that knows the secrets processes what the
// hub says itself, what it quotes of a server in errors, stderr lines and the log, and a server's log messages. Results
// and prompts of a server are passed on as they came.
//
// What must not live here: gRPC, protobuf, go-plugin (package ipc converts), JSON-RPC framing (hub/jsonrpc), protocol
// revisions (hub/mcp), processes (hub/transport), config syntax (hub/config).
package hub
