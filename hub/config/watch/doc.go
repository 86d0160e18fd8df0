// Package watch tells when a config file has other content, and when a file changed that a server is built from.
//
// A change is told when it has been quiet for a moment, however many steps an editor takes to save: a write, a rename
// over the old file, a deletion with a new start, the swap of a link anywhere on the way to the file, a folder that
// comes later. What is compared is content, so a touch tells nothing. Events of the system are only a hint to look:
// what they get wrong costs time, not truth, and folders that the system cannot watch are looked at every two seconds.
//
// The package reads files and tells; what is in them, and whether it is whole, is for the reader to judge. Nothing here
// starts, stops or parses anything, and no content of a file reaches a log.
package watch
