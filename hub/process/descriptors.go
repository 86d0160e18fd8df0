package process

// InheritNothing makes sure that the programs that this process starts inherit none of its descriptors but 0, 1 and 2.
// It sets the close-on-exec flag of all others, and changes nothing else about them. Go sets that flag on every file
// that it opens. InheritNothing is for the descriptors that this process itself has inherited: sockets, files and pipes
// of an editor that its parent did not close.
//
// A process that serves a hub calls InheritNothing before anything else. The same is done again before each start of a
// server, since a library that is not written in Go may open a file without the flag at any time. On Windows
// InheritNothing does nothing: there, Go names the three handles that a child inherits.
func InheritNothing() { closeOnExec() }
