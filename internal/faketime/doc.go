// Package faketime lets the fake time of a synctest bubble go by, and has the one bound for waits outside of a bubble,
// for tests.
//
// What must not live here: anything that a test wants to wait for by an event.
package faketime
