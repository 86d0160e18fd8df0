// Package gateway shows all servers of a hub as one MCP server: whoever speaks MCP calls their tools, reads their
// resources and fills their prompts, and gets the hub's cancellation, approvals and history with them.
//
// What lives here is the translation between one client's request and the hub's: names, who is asked what a server
// asks, what a client is told unasked, and trouble in words for a model. What must not: the protocol (hub/mcpserver),
// policy, requests and their cancellation (hub), what models can read (hub/toolset), gRPC.
//
// # Who sees what
//
// Results cross byte for byte; of a request name, id, progress token and reserved metadata are the hub's own. A
// question of a server goes to the client in whose call it came, and to no other. What servers say unasked goes to all
// clients that want it. A request of a client is a request of the hub: windows see it, and can cancel it.
//
// # Locks
//
// A Gateway has one (its clients), the shelf one (what servers offer), a subscriptions one. No two are held at once,
// and nobody waits for anything with one held, nor calls the hub. Log messages are passed on by one goroutine at a
// time, with Gateway.passing held, under which the others may be taken.
package gateway
