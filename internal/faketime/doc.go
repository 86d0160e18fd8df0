// Package faketime lets the fake time of a synctest bubble go by, for tests.
//
// What must not live here: anything that a test wants to wait for by an event.
package faketime
