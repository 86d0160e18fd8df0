// Package questions describes the prompts of a hub, and answers them: as the flags of a command say, or by asking a
// person at the terminal.
//
// What must not live here: what else a window gets (package events).
package questions
