// Package servers holds the state machine of one server's life: what state it is in, what people want of it, and what
// each event makes of both. It is a pure table: it knows no process, no lock and no window. Package hub applies the
// events and acts on what follows from them.
package servers
