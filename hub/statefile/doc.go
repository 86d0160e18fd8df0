// Package statefile keeps the hub's own small files, which several hubs of one user share: what was approved, what may
// be started, which tools a server had. One [File] is one text, read whole and replaced whole. A [List] is a file
// of entries with a key and a time each.
//
// A change is a function from the old text to the new one. It runs under a lock that all hubs take, so that none loses
// what another wrote, and the file is replaced in one step, so that no reader sees half of it and a crash leaves the
// old text or the new one. Where the disk does not take it, a change of a List holds in this process, and is written
// with the next one that is.
//
// [Rewrite] changes a file that is not the hub's own, a config file of the user say, with the same care, and with the
// file's own mode and links.
//
// The package knows nothing of what the texts and entries mean. It keeps no secrets: those belong in the system's
// keyring.
package statefile
