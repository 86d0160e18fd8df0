// Command release makes all files of a release of McpHub, for all systems: archives of the program, npm tarballs,
// checksums, the bill of materials and the licences of linked modules. make release runs it.
//
//	go run . -version 1.2.3 -root ../.. -out ../../dist
//
// The same source and the same version of Go always produce the same bytes: paths are trimmed, nothing depends on the
// machine or the clock, and all files in archives have the same time. It is a separate module, so that its dependencies
// stay out of the product's module.
package main
