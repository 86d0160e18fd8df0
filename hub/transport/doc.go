// Package transport carries messages between the hub and an MCP server. It
// imports no other package of the hub.
//
// A server on this machine is a child process with pipes for stdin, stdout and
// stderr: [Start] runs it in a process group of its own, [Process.Stop] ends it
// in stages, and [Environment] decides what it inherits. What the bytes mean is
// not known there: no JSON, no MCP, no configuration and no logging.
//
// A server behind a URL is reached by [Streamable].
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
// # Streamable HTTP
//
// Each request is an exchange: one POST, one goroutine, one context. Whatever
// comes of it, in a JSON body, on its event stream or on the streams that resume
// that one, goes through [Streamable.Receive], in order for each exchange, and
// ends with the answer or with one failure. To tell an answer from what comes
// before it, the members at the top of each message are looked at; nothing else
// of it is understood. A failure says whether the request may have run
// ([Delivery]): nothing that may have run is ever sent again.
//
// An exchange belongs to whoever takes it out of the map of open ones: Receive
// with its end, Abort, or the end of a cancellation. So nothing is received
// after Abort has returned, and nothing is received twice. Whether the server
// can know a request is decided in the same way, between the connection that it
// gets and its cancellation: a legacy server hears of the cancellation of each
// request that it may have seen, and of no other.
//
// Notifications and responses go out one after the other, beside the requests;
// only notifications/initialized holds requests up. An idle transport has no
// goroutine, but for the standalone stream of a legacy session.
//
// # Platforms
//
// Linux is where the tests run. The code for macOS and the BSDs and the code
// for Windows is compiled and vetted, and has not been run.
package transport
