// Command sdkdriver is the control of the conformance tests: the client of the official Go SDK in the scenarios that
// the suite requires. It is known to pass them, so a scenario that it fails says something about the harness, the
// machine or the suite.
package main
