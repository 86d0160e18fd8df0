// Command release makes everything that a release of McpHub consists of, for all systems: archives of the program, npm
// tarballs, checksums, the bill of materials and the licences of what is linked. make release runs it.
//
//	go run . -version 1.2.3 -root ../.. -out ../../dist
//
// The same source and the same Go give the same bytes, wherever and whenever it runs: paths are trimmed, nothing of
// the machine or of the clock goes in, and files in archives have one time. It is a module of its own, so that what it
// needs stays out of the product's module.
package main
