// Package rules holds the repository's own rules, as tests: the direction of imports, what product code must
// not call, and what must not be left behind.
//
// A rule is a function from the source tree to its violations. It has two tests: one runs it over this repository, the
// other shows with small made-up files that it finds what it forbids. This package contains only tests.
package rules
