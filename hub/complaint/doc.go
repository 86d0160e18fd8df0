// Package complaint finds, in what a program wrote before it ended, the line that says why. Runtimes bury it: Node
// writes it above a stack and its own version, cobra above the usage, npm between lines of bookkeeping, Python at the
// end.
//
// What lives here: the choice of that line, and how an error quotes what a program wrote on stderr. What must not:
// where the lines come from, and secrets, which whoever quotes takes out of the whole text (package redact).
package complaint
