// Package statefile keeps the hub's own small files, which several hubs of one user share: what was approved, what may
// be started, which tools a server had. A [File] is one text, which is read whole and replaced whole. A [List] is a
// file of entries that have a key and a time each.
//
// A change is a function from the old text to the new one. It runs under a lock that all hubs take, so that no hub
// loses what another one wrote. The file is replaced in one step, so that no reader sees a part of it, and after a
// crash it has the old text or the new one. If the disk does not take a change of a List, the change is valid in this
// process, and is written together with the next one that the disk takes.
//
// [Rewrite] changes a file that is not the hub's own, such as a config file of the user, with the same care. It keeps
// the mode of the file, and its links.
//
// The package does not know what the texts and entries mean. It keeps no secrets: those belong in the keyring of the
// system.
package statefile
