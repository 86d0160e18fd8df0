// Package fakeserver is a scriptable MCP server for tests of the hub's engine, session and counter.
//
// It uses only encoding/json to speak raw JSON-RPC, over newline-framed streams or through [HTTP] in all three ways
// that the protocol has for HTTP. So a fault of the hub's engine or of an SDK cannot be hidden by the same fault here.
// A test registers a behaviour for each tool or method. A behaviour may answer never, late, twice or wrongly, may ask
// the client something and may withdraw its question. Everything that was received is recorded, in order.
//
// Over HTTP, a test can choose what the server does wrong with which request, and can read the requests and the order
// of events.
//
// It blocks only on channels, on the given streams and on a sync.Cond, so it works inside a testing/synctest bubble
// with net.Pipe or io.Pipe; see [HTTP.Listen].
//
// What must not live here: assertions, knowledge of the hub, and any import of this module's packages or of an MCP SDK
// (except in a test that checks the fake against a client of another author).
package fakeserver
