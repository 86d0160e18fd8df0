// Package nearmiss finds the names that a user may have meant who wrote a name that does not exist: of a server, a
// tool, a command, a flag.
//
// This package contains the distance of two names, and a search of bounded cost, because servers choose the names of
// their tools. What must not live here: which names exist.
package nearmiss
