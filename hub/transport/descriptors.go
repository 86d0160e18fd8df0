package transport

// InheritNothing makes sure that no descriptor of this process but 0, 1 and 2 reaches a program that it starts. What Go
// opens is closed on exec as it is; this is for what the process itself was started with: sockets, files and pipes of
// an editor that its parent did not close. It changes the close-on-exec flag of the process's descriptors, and nothing
// else about them.
//
// A process that serves a hub calls it first of all. It is repeated before each start of a server, since a library that
// is not written in Go may open later what would be inherited. Windows needs none of it: Go names the three handles
// that a child gets.
func InheritNothing() { closeOnExec() }
