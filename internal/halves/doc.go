// Package halves lets the two halves of the engine, hub/mcp and hub/mcpserver, communicate with each other in tests:
// over stdio and Streamable HTTP, in both eras. Neither half may import the other, so the tests that need both are
// here. Tests of one half are in its own package.
package halves
