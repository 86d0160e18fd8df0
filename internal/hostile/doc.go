// Package hostile contains servers and folders that attack the hub, each with a name: in a test's process over pipes in
// memory or over HTTP, or as a program (hostileserver) for black-box tests and measurements. Its tests run each one
// against the whole hub and its services, and check that others are not affected: a call of another server ends, a
// cancel in another window works, a new window gets its snapshot. They count what was kept, sent and left. How long
// others wait is measured by the bench.
//
// TestHostileClients contains the hostile clients of a gateway.
//
// The servers are made with fakeserver. What must not live here: knowledge of the hub's internals; faults of a single
// layer, which the tests of that layer cover.
package hostile
