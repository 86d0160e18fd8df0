// Package inputs is the values that configs leave to the user (inputs, as VS Code calls them): which of them a server
// refers to, what a right value is, and a [Store] that remembers the given ones and forgets them again.
//
// What must not live here: asking the user (package hub), how a config says what its inputs are (hub/config).
package inputs
