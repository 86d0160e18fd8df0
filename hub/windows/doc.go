// Package windows has the streams of windows: the events that each is sent, in order, and the orders that run for it,
// and how many may run.
//
// A [Table] and its windows are guarded by the lock of the hub that they belong to ([House]). The comment of a method
// says if it takes that lock itself; all others are called with it.
//
// What must not live here: what is shown. Requests, prompts and answers are package hub's, servers are hub/servers'.
// Which windows may come back, which are gone, and what all show together is hub/core's.
package windows
