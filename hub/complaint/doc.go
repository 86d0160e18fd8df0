// Package complaint finds the line that says why a program ended, in what it wrote before. Runtimes hide this line:
// Node writes it above a stack and its own version, cobra above the usage, npm between other lines, Python at the end.
//
// What lives here: the choice of that line, and how an error quotes what a program wrote to stderr. What must not live
// here: where the lines come from, and the removal of secrets, which callers remove from the whole text (package
// redact).
package complaint
