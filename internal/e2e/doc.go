// Package e2e tests the built binary from outside: over its real door, as a host with windows, and by its command line,
// against servers that others wrote and servers that misbehave on purpose.
//
// All of it is in test files. The test binary is itself run again as what the tests need around the hub: a host that
// gets killed, a hostile server, a recorder on the wire between hub and server. Every process of a test runs from, or
// in, the test's own directory; so the end of each test can see, and sees to it, that none is left.
//
// What must not live here: tests that need no process, and any import of the hub's own packages.
package e2e
