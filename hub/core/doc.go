// Package core is what the hub knows and decides about requests, questions and servers: which requests are open, who is
// told and asked what, whose call is sent next, what is cancelled and with what cause, and what may be said of it
// afterwards; what a call needs before it is sent; which server starts and ends when, and who waits for it. It is the
// same for every door: gRPC, windows, the command line, the gateway, clocks, servers.
//
// A [State] is plain data. [State.Apply] takes one [Event], which says what happened outside, and returns the effects:
// what package hub has to do now, in order. Nothing here waits, so nothing here can race: package hub holds its lock
// while it applies an event and carries out the effects, none of which waits. Each object is named by a number that is
// never used again, and no object points to another one, so that a state can be copied and compared.
//
// What people rely on is written down as conversations, events and the effects that follow: testdata/*.txt. Read
// cancel.txt, withdrawal.txt, gate.txt and life.txt first. Beside that, the tests go through all orders of events of
// small worlds: of the core alone (explore_test.go, explore_server_test.go, explore_gate_test.go), and of the core with
// what decides on the wire (explore_wire_test.go).
//
// What must not live here: goroutines, locks, channels, contexts, the clock, files, the network; texts and bytes of
// servers, which package hub keeps by the numbers; sessions; what is recorded of consents, which comes with the events
// (docs/adr/0074-the-core.md).
package core
