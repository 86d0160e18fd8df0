// Package windows knows who is attached: what each window can show, the events that it is told, in order, and what it
// missed while its stream was broken; what is under way for it, and how much may be.
//
// A [Table] and its windows are guarded by the lock of the hub that they are in ([House]); a method that takes that
// lock itself says so, all others are called with it.
//
// What must not live here: what is shown. Requests, prompts and answers are package hub's, servers are hub/servers'.
package windows
