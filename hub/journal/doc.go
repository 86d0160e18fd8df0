// Package journal records what has happened: the requests that are over ([History], [Recent]), and the flight recorder
// with what happened to each request ([Recorder], [Timeline], [Bundle]).
//
// The package holds data only, and calls nobody back. Package bounds has its limits in bytes. The hub's lock guards
// everything except the entries of a Timeline. A Timeline has a lock of its own, because the engine reports messages
// with its own locks held. The comment of a function says if it may be called without the hub's lock.
package journal
