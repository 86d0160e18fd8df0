// Package rules holds the repository's own rules, as tests: which way imports point, how large a file may be, what
// product code may not call, what may not be left lying about.
//
// A rule is a function from the source tree to its violations. It has two tests: one runs it over this repository, the
// other shows on small made-up files that it does find what it forbids. Nothing but tests lives here.
package rules
