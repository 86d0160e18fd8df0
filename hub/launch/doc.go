// Package launch is what may be launched under the name of a server: the entries of the config that have the name, the
// one of them that counts, and what a person has agreed to of it.
//
// What a folder brings changes nothing of the user's before the user has agreed to it. So of the entries of one name
// the first one counts that needs no yes or has one; those before it wait. A yes makes the server change over at once,
// and its calls are told why they end. When a yes ends, with a window perhaps, what runs goes on; the change back comes
// when it has stopped.
//
// A [Launch] is guarded by the lock of the hub, as a server is (hub/servers); a method that takes that lock itself, or
// is called without it, says so, all others are called with it. What only the hub can do, such as to ask a person, is
// its [Owner]'s.
//
// What must not live here: how grants are kept (hub/grants), how config files are read and watched (hub/sources), the
// life of a server (hub/servers), prompts and windows (package hub).
package launch
