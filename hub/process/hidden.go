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
