// Package inputs has the values that configs leave to the user ("inputs", as VS Code calls them): which inputs a server
// refers to, which values an input may have, and a [Store] that keeps the given values and forgets them.
//
// What must not live here: asking the user (package hub), and how a config describes its inputs (hub/config).
package inputs
