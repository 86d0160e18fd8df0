package process

// Hide protects the memory and the environment of this process from other processes of the same user, as far as the
// system can do that. Without it, a server could read the environment that the hub has from the editor, tokens
// included, in /proc/PPID/environ.
//
// On Linux, Hide makes the process not dumpable (prctl(2), PR_SET_DUMPABLE). Its /proc/PID/environ, mem, maps, fd and
// root then belong to root, and only a process with CAP_SYS_PTRACE can attach to it. The process itself loses access to
// nothing but /proc/self/environ, which the hub does not read. /proc/PID/stat, by which hubs identify each other and
// their servers, stays readable for everybody. Servers become dumpable again by their exec, so that the markers in
// their environments are found (see Containment). So does the guard, which holds no secret.
//
// The price is that no core is dumped and that no debugger of the same user can attach. Setting the variable
// plugin/handshake.EnvDumpable to 1 avoids that. On other systems Hide does nothing and returns nil.
//
// Hide is no sandbox. Servers are programs of the user, and can read what the user's other processes expose: the
// environment of the editor itself, and the files in the home directory.
func Hide() error { return hide() }

// InheritNothing makes sure that the programs that this process starts inherit none of its descriptors but 0, 1 and 2.
// It sets the close-on-exec flag of all others, and changes nothing else about them. Go sets that flag on every file
// that it opens. InheritNothing is for the descriptors that this process itself has inherited: sockets, files and pipes
// of an editor that its parent did not close.
//
// A process that serves a hub calls InheritNothing before anything else. The same is done again before each start of a
// server, since a library that is not written in Go may open a file without the flag at any time. On Windows
// InheritNothing does nothing: there, Go names the three handles that a child inherits.
func InheritNothing() { closeOnExec() }
