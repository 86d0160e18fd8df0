// Package hostile has servers and folders that do their worst, each by name: in a test's process over pipes in memory
// or over HTTP, as a program (hostileserver) for black-box tests and measurements. Its tests play each against the
// whole hub and its counter, and ask what a bystander feels: a call of another server ends, a cancel in another window
// works, a new window gets its snapshot. They count what was kept, sent and left; how long a bystander waits is for the
// bench to measure.
//
// TestHostileClients has the clients of a gateway that do theirs.
//
// The servers are made of fakeserver. What must not live here: knowledge of the hub's inside; faults of one layer
// alone, which that layer's own tests show.
package hostile
