// Command sdkdriver is the control of the conformance tests: the client of the official Go SDK in the scenarios that
// the suite requires. It is known to pass them, so if it fails a scenario, the harness, the machine or the suite is at
// fault.
package main
