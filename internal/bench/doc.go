// Bench measures the numbers that the hub promises, side by side in one run: against floors (a bare byte loop, a bare
// POST loop, a relay behind the same door) and against peers (the official Go SDK and mcp-go). It is a module of its
// own, so that the peers stay out of the product's dependencies.
//
//	go run .                                everything
//	go run . -only 'cancel|start' -rounds 15
//
// The table of all rows with their floors is in floors.go. Rates and times depend on the machine and on its other load.
// The ratios hardly do, since both sides are measured within one round, in turns. A group that misses a floor is
// measured once more, and the better of the two counts. The run ends with 0 if every row was measured and reached its
// floor. Above a floor the simpler code is better, and below it a change does not land. Whether a change costs
// something is told by the commit before it, measured in turns with it.
//
// The program also serves what it measures from inside: it starts itself again as a plugin or as a server (see
// door.go). The MCP server that all subjects talk to is the program echoserver beside it, which editors/bench uses as
// well. The hub that is measured from outside is the real mcphub. All are built once, into a directory that is removed
// at the end.
//
// What must not live here: tests of behaviour, and anything that the product imports.
package main
