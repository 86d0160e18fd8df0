// Package conformance runs the official suite of the protocol (npm @modelcontextprotocol/conformance) against the hub,
// one subtest a scenario.
//
// The suite plays the MCP server and judges what a client sends. The client that it starts is ./driver: a host that
// opens the built mcphub by its gRPC contract. ./sdkdriver is the control, the same scenarios on the official Go SDK,
// which is known to pass: when it fails, the harness or the suite is at fault and not the hub. What both do in a
// scenario is in ./scenario.
//
// `make conformance` installs the suite and runs the tests. They are no part of `make test`, since they need Node 22
// from npm and minutes.
//
// What must not live here: any knowledge of how the hub works inside.
package conformance
