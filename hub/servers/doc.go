// Package servers manages the configured servers. It covers the life of a server: the entry of the config, its launch,
// its connection and its end, and also starts that fail and are tried again, the sign-in, the list of tools,
// subscriptions, and idle time.
//
// A [Server] is guarded by the lock of the hub that it belongs to ([House]). The comment of a method that takes that
// lock says so; all other methods are called with the lock held. The state of a server is a [Life], which has one
// transition function. A server asks its [Owner] for what is not its own: whether there is a consent to the launch,
// which calls are open, what windows can show.
//
// What must not live here: requests, prompts and windows (package hub), protocol revisions (hub/mcp), processes
// (hub/transport), config syntax (hub/config).
package servers
