// Package fakeserver is a scriptable MCP server for tests of the hub's engine, session and counter.
//
// It speaks raw JSON-RPC with encoding/json alone, over newline-framed streams or through [HTTP] in all three ways that
// the protocol has for that, so that a fault of our own engine or of an SDK cannot hide behind the same fault here. A
// test registers a behaviour per tool or method; a behaviour may answer never, late, twice or wrongly, may ask the
// client something and may take its question back. Everything that was received is kept, in order.
//
// Over HTTP a test says what the server shall do wrong with which request, and reads what came, and what came before
// what.
//
// It blocks only on channels, on the given streams and on a sync.Cond, so it works inside a testing/synctest bubble
// with net.Pipe or io.Pipe; see [HTTP.Listen].
//
// What must not live here: assertions, knowledge of the hub, and any import of this module's packages or of an MCP SDK
// (but for a test that holds the fake against a client that we did not write).
package fakeserver
