// Package results keeps long results of tools for a while, so that a model that was shown a part of one can read the
// rest in pieces.
//
// Each is a private file in a folder of the state directory, under an id that nobody can guess. They are results of
// strangers: what is kept is bounded in bytes, in files and in days, and the oldest go first.
//
// What must not live here: how a part of a result is made (hub/toolset), and who may read one: whoever has its id.
package results
