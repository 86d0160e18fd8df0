// Package flight makes several goroutines that want the same answer share one search for it. The first one leads, the
// others follow, and all get what the leader finds. Unlike in singleflight, a search can end for its leader only; then
// another one leads.
//
// What must not live here: what is searched for, and how a person is asked (package hub).
package flight
