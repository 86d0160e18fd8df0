// Package nearmiss finds what somebody may have meant who wrote a name that does not exist: of a server, a tool, a
// command, a flag.
//
// What lives here: the distance of two names, and a search whose cost is bounded, as servers choose the names of their
// tools. What must not: which names there are.
package nearmiss
