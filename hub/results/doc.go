// Package results keeps long results of tools for a while, so that a model that was shown a part of a result can read
// the rest in pieces.
//
// Each result is a private file in a folder of the state directory, under an id that nobody can guess. Servers are
// strangers, so their results are bounded in bytes, in number and in age, and the oldest are removed first.
//
// What must not live here: how a part of a result is made (hub/toolset). There is no check of who may read a result:
// whoever has its id may.
package results
