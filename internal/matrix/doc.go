// Package matrix checks the table of cancellations: every protocol revision, over every transport that it has, in every
// situation in which a request can end before its answer. Each cell runs the real hub against the scriptable fake
// server and compares all messages on the wire with a transcript in testdata/<transport>/<situation>.txtar, which has
// one section for each revision.
//
// The package contains only tests. A cell is deterministic because it waits until nothing changes (in a
// testing/synctest bubble, where time is fake), or, over real sockets, until the transcript is as expected. `go test
// -update` writes the transcripts; a person must then review them.
//
// What must not live here: knowledge of the hub's internals, and tests of only one package.
package matrix
