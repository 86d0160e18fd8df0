// Package transport carries bytes between the hub and an MCP server.
//
// Today that is a child process with pipes for stdin, stdout and stderr:
// [Start] runs it in a process group of its own, [Process.Stop] ends it in
// stages, and [Environment] decides what it inherits. What the bytes mean is
// not known here: no JSON, no MCP, no configuration and no logging. The
// package imports no other package of the hub.
//
// # Containment
//
// Servers are often started through launchers (npx, uvx, a shell script), so
// the direct child is seldom the whole server. Everything that stays in the
// child's process group is ended with it, whether the child was stopped or
// exited on its own. A process that leaves the group (setsid) is not followed;
// it cannot keep Stop, Stdout or the stderr reader waiting.
//
// On Linux the direct child is reaped last: as long as it is a zombie, its
// number cannot be given to another group, so every signal goes where it is
// meant to go. Other Unix systems have no portable way to see an exit without
// reaping; there the group is signalled only as long as it was seen to have
// members. On Windows a job object takes the place of the group.
//
// Linux is where the tests run. The code for macOS and the BSDs and the code
// for Windows is compiled and vetted, and has not been run.
package transport
