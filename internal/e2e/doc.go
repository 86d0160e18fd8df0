// Package e2e tests the built binary from outside: over its real door, as a host with windows, and by its command line,
// against servers of other authors and servers that misbehave on purpose.
//
// All code is in test files. The test binary is also run as the programs that the tests need around the hub: a host
// that is killed, a hostile server, a recorder between hub and server. Every process of a test runs from, or in, the
// test's own directory, so at its end each test can find and end processes that were left.
//
// What must not live here: tests that need no process, and any import of the hub's own packages.
package e2e
