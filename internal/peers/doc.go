// Package peers finds the MCP servers that other people wrote and that the tests run against.
//
// What lives here is how to start each of them, with its version pinned in a lock file beside it. What must not live here is
// any knowledge of how they behave: that belongs to the tests that use them.
package peers
