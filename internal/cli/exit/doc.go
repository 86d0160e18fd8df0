// Package exit has the exit statuses of commands, and the errors that lead to them.
//
// What must not live here: the reasons for an error, which are with the command that returns it.
package exit
