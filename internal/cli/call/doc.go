// Package call has the commands that make one request: call, read and prompt.
//
// What must not live here: how events and questions are described, which other commands do, too.
package call
