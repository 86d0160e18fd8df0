// Package servers carries out what package core decides about the configured servers, and tells it what becomes of
// that: starts, sessions and their ends. It also has what belongs to a server besides its life: the sign-in, the list
// of tools, subscriptions, and the texts of errors.
//
// A [Server] is guarded by the lock of the hub that it belongs to ([House]). The comment of a method that takes that
// lock says so; all other methods are called with the lock held. The state of a server is in the core: [Server.Now].
// [Table.CarryOut] does what the core orders. A server asks its [Owner] for what is not its own: whether there is a
// consent to the launch, what windows can show.
//
// What must not live here: whether and when a server starts or ends, and who waits for it (hub/core); requests, prompts
// and windows (package hub); protocol revisions (hub/mcp); processes (hub/transport); config syntax (hub/config).
package servers
