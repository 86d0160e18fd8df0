// Command mcpgo is a server on github.com/mark3labs/mcp-go that the tests run against, as `mcpgo stdio|http`. Over HTTP
// it serves Streamable HTTP at /mcp (both eras) and the transport of 2024-11-05 at /sse, over which mcp-go cannot ask.
// It never withdraws a question.
//
// It is a module of its own, so that its SDK is none of the product's dependencies. It notes what it sees in the words
// of ../journal.mjs, and knows nothing of the hub.
package main
