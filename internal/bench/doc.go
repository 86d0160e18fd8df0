// Bench measures the numbers that the hub promises, side by side in one run: against floors (a bare byte loop, a bare
// gRPC echo over the same door) and against peers (the official Go SDK and mcp-go). It is a module of its own, so that
// the peers stay out of the product's dependencies.
//
//	go run .                    everything, some minutes
//	go run . --quick            less of everything, two minutes
//	go run . --only 'cancel|start' --rounds 15 --json
//	go run . --only storm --profile DIR
//
// Rates and times depend on the machine and on its other load. The ratios hardly do, since both sides are measured
// within one round. A missed number is reported and does not fail the run.
//
// The program also serves the hubs that it measures from inside: it starts itself again as a plugin (see served.go).
// The MCP server that all subjects talk to is the program echoserver beside it. The hub that is measured from outside
// is the real mcphub. Both are built once, into a directory that is removed at the end.
//
// What must not live here: tests of behaviour, and anything that the product imports.
package main
