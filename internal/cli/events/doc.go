// Package events describes the events of a window for a person, in one or a few short lines each.
//
// What must not live here: what is done about an event.
package events
