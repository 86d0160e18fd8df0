// Package soak cancels calls at random moments, over real transports, at servers of other authors, and compares what
// the hub reports with what the servers observed: calls that work and calls that ask (elicitation, sampling), cancelled
// between 0 and 20 ms after they began. It contains only tests.
//
// The invariants, for each call:
//
//   - exactly one terminal event;
//   - at most one cancel on the wire for each wire id, never before its call, never for a call that did not arrive;
//   - a cancel that is reported as delivered was received after its call;
//   - a question that belongs to a call that has ended is never open, and none is given to another call;
//   - at the end nothing is left: requests, prompts; in the long form no goroutines either, and memory does not grow.
//
// TestGatewayAtRandomMoments does the same through the gateway: clients on SDKs of others and raw ones, in both eras,
// over HTTP and on pipes, whose connections are cut and that are killed. Most lanes have the gateway in the process of
// the test, which sees what is left in it; some go through mcphub mcp as it is built. What clients see is compared with
// what the servers observed:
//
//   - a cancel arrives at most once, at the right server, with the client's reason;
//   - no call that was cancelled runs on or is answered, and no dialog stays open;
//   - no question and no answer of one client reaches another;
//   - at the end nothing is left.
//
// What it finds becomes a conversation or an order of events in the tests of hub/mcpserver and ipc/gateway.
//
// `go test` runs a short form, always with the same moments and choices; the timing on the machine differs each time.
// -soak.calls and -soak.crossings make the long forms, -soak.seed repeats the choices of a run, and -soak.seed 0 makes
// new ones.
//
// What must not live here: knowledge of the hub's internals.
package soak
