// Package transport carries messages between the hub and an MCP server. Of the
// hub it imports leaves alone.
//
// A server on this machine is a child process with pipes for stdin, stdout and
// stderr: [Start] runs it in a process group of its own, [Process.Stop] ends it
// in stages, and [Environment] decides what it inherits. What the bytes mean is
// not known there: no JSON, no MCP, no configuration and no logging.
//
// # Containment
//
// Servers are often started through launchers (npx, uvx, a shell script), so
// the direct child is seldom the whole server. Everything that stays in the
// child's process group is ended with it, whether the child was stopped or
// exited on its own.
//
// On Linux the direct child is reaped last: as long as it is a zombie, its
// number cannot be given to another group, so every signal goes where it is
// meant to go. Other Unix systems have no portable way to see an exit without
// reaping; there the group is signalled only as long as it was seen to have
// members. On Windows a job object takes the place of the group; it ends with the
// hub, and the rest of this section but for the ledger is not needed there.
//
// A [Containment] also holds what leaves the group, and what the hub can no longer
// stop because it was killed itself. It has several means, since none of them
// covers everything:
//
//   - The death signal (Linux, PR_SET_PDEATHSIG; also without a Containment). The
//     kernel kills the direct child when the hub dies, even between fork and exec.
//     It does not cover what the child started, nor a setuid program.
//   - The guard (Linux, macOS, BSD): a second, small process that hears of every
//     group through a pipe. The end of the pipe without a goodbye is the hub's
//     death; then it kills the groups, and sweeps by marker. It does not cover its
//     own death at the same time; one that dies alone is replaced with the next
//     server. On systems other than Linux a server whose hub dies between the fork
//     and the line about it is not known to it, and ends only if it heeds the end of
//     its stdin.
//   - The marker (Linux): a variable in the environment, [MarkerVariable], that is
//     inherited across setsid and double forks. An ordinary stop ends by it what
//     left the group, in the same stages as the group: a daemon that a server
//     starts ends with its server. It does not cover a process that both leaves the
//     group and was executed with another environment, that wrote over the place of its
//     environment, or whose environment may not be read (another user's, a
//     program with capabilities): that one lives on, unless a cgroup holds it.
//   - The cgroup (Linux, where the hub's own cgroup is delegated to the user, as
//     desktop sessions do): one for each server, which nothing leaves by itself.
//     What it is used for was tried with plain files alone.
//   - The ledger: a file for each hub, for the next one to sweep when hub and
//     guard were killed together. It knows a group by its leader's number and start
//     time, and otherwise by the marker; on macOS a group that lost its leader is
//     not found. There is none on the BSDs, where start times are not read.
//
// What is in a container of its own (docker run) is a child of another program and
// is in the hands of that program.
//
// A process that none of these reaches cannot keep Stop, Stdout or the stderr
// reader waiting.
//
// The memory limit is that of a server with all its processes: on Linux the sum of
// what is resident is looked at each second, with shared pages counted once
// (Pss) before a server is killed for it; on Windows the job object refuses the
// memory; on macOS and the BSDs it is not enforced.
//
// # HTTP
//
// A server behind a URL is reached by [Streamable] (Streamable HTTP) or [SSE] (HTTP+SSE). Both send through one sender,
// and each message is a POST of its own. What is sent again is decided by [Repeats].
//
// Each request is an exchange: one POST, one goroutine, one context, and one state with one transition function, which
// also decides when a cancellation goes out and what is told of it. Over Streamable HTTP, whatever comes of an
// exchange, in a JSON body, on its event stream or on the streams that resume that one, goes through Receive, in order
// for each exchange, and ends with the answer or with one failure. Over HTTP+SSE an exchange is a POST, and what the
// server says comes on the one stream. A failure says whether the request may have run ([Delivery]).
//
// An exchange belongs to whoever takes it out of the map of open ones: Receive
// with its end, Abort, or the end of a cancellation. So nothing is received
// after Abort has returned, and nothing is received twice.
//
// Notifications go out one after the other, beside the requests; answers go out on their own, a bounded number at a
// time. Only notifications/initialized holds requests up. An idle transport has no goroutine, but for the standalone
// stream of a legacy session and the stream of HTTP+SSE.
//
// # Platforms
//
// Linux is where the tests run. The code for macOS and the BSDs and the code
// for Windows is compiled and vetted, and has not been run.
package transport
