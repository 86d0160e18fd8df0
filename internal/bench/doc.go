// Bench measures the numbers that the hub promises, side by side in one run: against floors (a bare byte loop, a bare
// gRPC echo over the same door) and against peers (the official Go SDK and mcp-go). It is a module of its own, so that
// the peers stay out of the product's dependencies.
//
//	go run .                    everything, about eight minutes
//	go run . --quick            less of everything, three minutes
//	go run . --only 'cancel|start' --rounds 15
//
// Rates and times depend on the machine and on its other load. The ratios hardly do, since both sides are measured
// within one round. A group that misses a target is measured once more, and the better of the two counts. The run ends
// with 0 if everything was measured and every target reached. The targets are floors, some of them lower than when the
// decisions in docs/adr (0042, 0048, 0051) were written: above a floor, the simpler code is better, and below it a
// change does not land. Whether a change costs something is told by the commit before it, measured in turns with it.
//
// The program also serves the hubs that it measures from inside: it starts itself again as a plugin (see served.go).
// The MCP server that all subjects talk to is the program echoserver beside it. The hub that is measured from outside
// is the real mcphub. Both are built once, into a directory that is removed at the end.
//
// What must not live here: tests of behaviour, and anything that the product imports.
package main
