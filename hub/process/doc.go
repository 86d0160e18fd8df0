// Package process runs servers on this machine. Of the hub's packages it imports only leaves.
//
// Such a server is a child process with pipes for stdin, stdout and stderr: [Start] runs it in a process group of its
// own, [Process.Stop] ends it in stages, and [Environment] decides what it inherits. The package does not interpret the
// bytes of the pipes: it knows no MCP and no configuration.
//
// # Containment
//
// Servers are often started through launchers (npx, uvx, a shell script), so
// the direct child is seldom the whole server. Everything that stays in the
// child's process group is ended with it, whether the child was stopped or
// exited on its own.
//
// On Linux the direct child is reaped last: as long as it is a zombie, its
// number cannot be given to another group, so no signal can reach a foreign
// group. On macOS the child is reaped as soon as it exits; there the group is
// signalled only as long as it was seen to
// have members. On Windows a job object takes the place of the group. It ends
// with the hub, so of the rest of this section only the ledger applies there.
//
// A [Containment] also covers the processes that leave the group, and the servers
// of a hub that was itself killed. It uses several mechanisms, since none of them
// covers everything:
//
//   - The death signal (Linux, PR_SET_PDEATHSIG; also without a Containment). The
//     kernel kills the direct child when the hub dies, even between fork and exec.
//     It does not cover what the child started, nor a setuid program.
//   - The guard (Linux, macOS): a second, small process. The hub reports every
//     group to it through a pipe. If the pipe ends without a final line that says
//     that all is done, the hub is dead; the guard then kills the groups, and
//     sweeps by marker. It does not cover the case that hub and guard die at the
//     same time. If the guard alone dies, the start of the next server replaces it.
//     On systems other than Linux the guard does not know a server whose hub dies
//     between the fork and the line about that server; such a server ends only if
//     it heeds the end of its stdin.
//   - The marker (Linux): an environment variable, [MarkerVariable], that is
//     inherited across setsid and double forks. An ordinary stop uses it to end the
//     processes that left the group, in the same stages as the group: a daemon that
//     a server starts ends with its server. It does not cover a process that both
//     leaves the group and was executed with another environment, that overwrote
//     the memory of its environment, or whose environment may not be read (another
//     user's, a program with capabilities): that one lives on.
//   - The ledger: a file for each hub, which the next hub sweeps if hub and guard
//     were killed together. It identifies a group by its leader's number and start
//     time, and otherwise by the marker; on macOS a group that lost its leader is
//     not found.
//
// A server in a container of its own (docker run) is a child of another program,
// and that program has to end it.
//
// A process that none of these mechanisms reaches cannot keep Stop, Stdout or the
// stderr reader waiting.
//
// # Words of a program
//
// [Complaint] finds the line that says why a program ended, in what it wrote before. Runtimes hide this line: Node
// writes it above a stack and its own version, cobra above the usage, npm between other lines, Python at the end.
// [QuoteStderr] is how an error quotes what a program wrote to stderr. Callers remove secrets from the whole text.
//
// # The environment of the user
//
// A program that a desktop starts has not the environment that its user has at a terminal. [User] asks the login shell
// for it, once, when a server needs it, and finds a program where that says, or in the places where users have their
// tools.
//
// # Platforms
//
// The tests run on Linux, and those of the Windows build under Wine. The code for macOS is compiled and vetted,
// but has not been run.
package process
