// Package gateway presents all servers of a hub as one MCP server: MCP clients call their tools, read their resources
// and fill their prompts, with the hub's cancellation, approvals and history.
//
// This package translates between a client's requests and the hub's: names, who is asked a server's question, what a
// client is told without asking, and errors in words for a model. What must not live here: the protocol
// (hub/mcpserver), policy, requests and their cancellation (hub), what models can read (hub/toolset), gRPC.
//
// # Visibility
//
// Results are passed on byte for byte. Of a request, the name, id, progress token and reserved metadata are replaced by
// the hub's. A question of a server goes only to the client in whose call it came. Unrequested messages of servers go
// to all clients that want them. A request of a client is a request of the hub: windows show it and can cancel it.
//
// # Locks
//
// Gateway has a lock for its clients, shelf one for what servers offer, subscriptions one for its map, and Set one
// for its gateways. No two of them are held at once, but the lock of an owners may be taken with that of shelf. No
// goroutine waits for anything or calls the hub while it holds one. Log messages are passed on by one goroutine at a
// time, which holds Gateway.passing; it may take the other locks.
package gateway
