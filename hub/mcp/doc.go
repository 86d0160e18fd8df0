// Package mcp speaks the Model Context Protocol as a client: one [Session] over one open connection to one server.
//
// Here live the two eras and the five revisions, the start (server/discover with its fallback, or initialize), the
// three kinds of links (stdio, Streamable HTTP, HTTP+SSE) with the one table of how a cancel travels on each
// (binding.go), what headers repeat of a request over HTTP, capabilities, tool calls, reads of resources and prompts
// with their progress, tasks, multi round-trip requests, URL elicitation that a server requires, questions that a
// server asks, the lists with their pages, completion, logging, subscriptions and the listen stream, answers that a
// server calls fresh, and the check of structured content.
//
// What does not live here: message framing, ids, cancellation mechanics and ordered delivery (hub/jsonrpc); processes
// and HTTP (hub/transport); who may call what, who is asked, and for how long (hub). A session asks its [Handler] and
// believes the answer.
//
// A session starts no goroutine for an outgoing call. It owns one for the link's end, one for the listen stream of a
// modern server, and one for each question of a round or a task, one for each answer to a task's question, and one for
// each tasks/cancel until it is answered; all of them are waited for by Close or by the call that started them.
package mcp
