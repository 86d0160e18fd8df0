// Command mcpgo is a server with github.com/mark3labs/mcp-go against which the tests run, as `mcpgo stdio|http`. Over
// HTTP it serves Streamable HTTP at /mcp (both eras) and the transport of 2024-11-05 at /sse, over which mcp-go cannot
// ask. It never withdraws a question.
//
// It is a separate module, so that its SDK is not a dependency of the product. It records what it observes in the
// format of ../journal.mjs, and knows nothing about the hub.
package main
