// Package matrix proves the table of cancellations: every protocol revision, over every transport that it exists on, in
// every situation in which a request can end before its answer. Each cell plays the real hub against the scriptable
// fake server and compares all that crossed the wire with a transcript in testdata/<transport>/<situation>.txtar, one
// section a revision.
//
// The package holds tests alone. A cell is deterministic because it waits until nothing moves (in a testing/synctest
// bubble, where time is fake), or, over real sockets, until the transcript says what it should. `go test -update`
// writes the transcripts; they are then to be read by a person.
//
// What must not live here: knowledge of the hub's inside, and tests of one package alone.
package matrix
