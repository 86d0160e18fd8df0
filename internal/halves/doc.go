// Package halves lets the two halves of the engine, hub/mcp and hub/mcpserver, speak with each other in tests: over
// stdio and Streamable HTTP, in both eras. Neither half may import the other, so the tests that need both live here.
// What one half does by itself is tested beside it.
package halves
