// Package scenario holds what a client does when the conformance suite starts it: which tools it calls, what it reads,
// and how it answers.
//
// It is independent of the client: the driver for the hub and the control with the Go SDK each have their own. What
// must not live here: anything that a client should do by itself, such as setting headers, retrying with a token, or
// resuming a broken stream.
package scenario
