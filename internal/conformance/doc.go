// Package conformance runs the official suite of the protocol (npm @modelcontextprotocol/conformance) against the hub,
// with one subtest for each scenario.
//
// The suite acts as the MCP server and judges what a client sends. The client that it starts is ./driver: a host that
// opens the built mcphub by its gRPC contract. ./sdkdriver is the control: it runs the same scenarios with the official
// Go SDK, which is known to pass. If it fails, the harness or the suite is at fault and not the hub. What both do in a
// scenario is in ./scenario.
//
// `make conformance` installs the suite and runs the tests. They are not part of `make test`, since they need Node 22,
// packages from npm and some minutes. What a revision requires of the hub as a client and as a gateway is quick; the
// rest of the suite, the control, and what measures time run at night.
//
// What must not live here: knowledge of the hub's internals.
package conformance
