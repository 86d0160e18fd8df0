// Package faketime lets the fake time of a synctest bubble go by, for tests, and bounds waits outside of bubbles.
//
// What must not live here: anything that a test wants to wait for by an event.
package faketime
