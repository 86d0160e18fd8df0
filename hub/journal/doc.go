// Package journal keeps what was: the events that a window missed ([Missed]), the requests that are over ([History],
// [Recent]), and the flight recorder with what happened to each request ([Recorder], [Timeline], [Bundle]).
//
// It is data alone, and calls nobody back. What bounds it in bytes stands in package bounds. The hub's lock guards all
// of it but the entries of a Timeline, which has a lock of its own: the engine tells of messages with its locks held.
// What may be read without the hub's lock says so.
package journal
