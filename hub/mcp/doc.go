// Package mcp is the client side of the Model Context Protocol: a [Session] over one open connection to one server.
//
// This package contains the two eras and the five revisions, the start (server/discover with its fallback, or
// initialize), the three kinds of links (stdio, Streamable HTTP, HTTP+SSE) with the one table of how a cancel is sent
// on each (binding.go), the parts of a request that are repeated in HTTP headers, capabilities, tool calls, reads of
// resources and prompts with their progress, tasks, multi round-trip requests, URL elicitation that a server requires,
// questions of a server, the lists with their pages, completion, logging, subscriptions and the listen stream, the
// cache of answers that a server declares fresh, and the check of structured content.
//
// What does not live here: message framing, ids, the mechanics of cancellation and ordered delivery (hub/jsonrpc);
// processes and HTTP (hub/transport); who may call what, which user is asked, and for how long (hub). A session asks
// its [Handler] and trusts the answer.
//
// A session starts no goroutine for an outgoing call. It has one for the link's end, one for the listen stream of a
// modern server, one for each question of a round or a task, one for each answer to a task's question, and one for each
// tasks/cancel until it is answered. Close, or the call that started them, waits for all of them.
package mcp
