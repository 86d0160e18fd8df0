// Package scenario is what a client does when the conformance suite starts it: which tools it calls, what it reads, how
// it answers.
//
// It knows no client: the driver on the hub and the control on the Go SDK bring their own. What must not live here is
// anything that a client should do by itself, such as filling in headers, retrying with a token, or going on with a
// stream that broke off.
package scenario
