// Package servers is the life of the configured servers: an entry of the config, its launch, its connection, its end,
// and what happens in between: starts that fail and are tried again, its sign-in, the list of its tools, subscriptions,
// idle time.
//
// A [Server] is guarded by the lock of the hub that it is in ([House]); a method that takes that lock itself says so,
// all others are called with it. Its state is a [Life], which has one transition function. What is not of a server
// alone is asked of its [Owner]: whether there is a consent, what calls are open, what windows can show.
//
// What must not live here: requests, prompts and windows (package hub), protocol revisions (hub/mcp), processes
// (hub/transport), config syntax (hub/config).
package servers
