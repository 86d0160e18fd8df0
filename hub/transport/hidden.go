package transport

// Hide keeps what this process holds from other processes of the same user, as far as the system can do that. On Linux
// the process is made not dumpable (prctl(2), PR_SET_DUMPABLE): its /proc/PID/environ, mem, maps, fd and root belong to
// root then, and nobody without CAP_SYS_PTRACE attaches to it. A server could read the editor's environment, tokens
// included, in /proc/PPID/environ otherwise. What a process may see of itself is as it was, /proc/self/environ apart,
// which is not read here; /proc/PID/stat, by which hubs know each other and their servers, is for everybody; and the
// servers are dumpable again by their exec, so that the markers in their environment are found (see Containment), and
// so is the guard, which holds no secret.
//
// The price: no core is dumped, and no debugger of the same user attaches. plugin/handshake.EnvDumpable switches it
// off.
//
// It is no wall. Servers are programs of the user, and read what the user's other processes show: the editor's own
// environment, the files in the home directory.
func Hide() error { return hide() }
