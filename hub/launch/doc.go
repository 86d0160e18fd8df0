// Package launch decides what may be launched under the name of a server: it has the entries of the config that have
// the name, the one of them that counts, and what a person has agreed to of it.
//
// What a workspace folder contains does not change the user's own servers before the user has agreed to it. So of the
// entries of one name, the first one counts that needs no consent or has one; the entries before it wait. When consent
// is given to one of these, the server changes over to it at once, and its calls are told why they end. When a consent
// ends, for example with its window, the running server goes on, and the change back comes when it has stopped.
//
// A [Launch] is guarded by the lock of the hub, as a server is (hub/servers). The comment of a method says so if the
// method takes that lock, or is called without it; all other methods are called with the lock held. What only the hub
// can do, such as asking a person, is done by the [Owner].
//
// What must not live here: how grants are kept (hub/grants), how config files are read and watched (hub/sources), the
// life of a server (hub/servers), prompts and windows (package hub).
package launch
