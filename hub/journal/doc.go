// Package journal records what has happened: the requests that are over ([History]), the flight recorder with what the
// core was told and has ordered ([Recorder], [Flight], [Bundle]) and what became of each request ([Timeline]), the
// line of its arguments by which people tell it apart in a list ([PreviewArguments]), and its arguments and its result,
// whole ([KeptRequests]). [Results] keeps the results of which a model was shown a part only. [Tracer] makes the spans
// of requests, for OpenTelemetry.
//
// The package holds data only, and calls nobody back. Strangers choose what is kept, so it is bounded in bytes, in
// number and in age, for each server and for all (package bounds); the oldest goes first. Short texts stay in memory,
// others become private files. Whoever has the id of a result may read it; nobody can guess one.
//
// The hub's lock guards everything except the entries of a Timeline, and Results and KeptRequests, which have locks of
// their own. The engine reports messages to a Timeline with its own locks held. The comment of a function says if it
// may be called without the hub's lock.
//
// What must not live here: what an approval shows, which is all arguments (package hub); how a part of a result is made
// (hub/toolset); the secrets themselves (hub/redact).
package journal
