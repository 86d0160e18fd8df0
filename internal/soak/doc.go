// Package soak cancels calls at random moments, over real transports, at servers that other people wrote, and judges
// what the hub says of it by what the servers saw: calls that work and calls that ask (elicitation, sampling),
// cancelled between 0 and 20 ms after they began. It holds tests alone.
//
// The invariants, for each call:
//
//   - exactly one terminal event;
//   - at most one cancel on the wire for each wire id, never before its call, never for a call that did not come;
//   - a cancel that is called delivered was received after its call;
//   - a question that is known to be of a call that is over is never open, and none is given to another call;
//   - at the end nothing is left: requests, prompts, goroutines; memory is flat.
//
// `go test` runs a short form, `make soak` the long one. -soak.seed repeats the same moments and choices; what the
// machine makes of them differs each time.
//
// What must not live here: knowledge of the hub's inside.
package soak
