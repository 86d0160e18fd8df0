// Package flight is one search for an answer that several wait for: the first who wants it leads, the others follow,
// and what the leader finds is what all get. Unlike in singleflight, a search can end for its leader alone; then
// another one leads.
//
// What must not live here: what is searched for, and how a person is asked (package hub).
package flight
