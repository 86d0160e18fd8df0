// Package cmd has what cobra leaves out for a tree of commands: the help page, the completion of values, near misses of
// names, and flags whose values have a form.
//
// What must not live here: commands, and flags that only some of them have.
package cmd
