// Package watch reports when the content of a config file has changed, and when a file has changed that a server is
// built from.
//
// A change is reported when the file has been quiet for a moment, however many steps an editor takes to save it: a
// write, a rename over the old file, a deletion followed by a new file, the replacement of a link anywhere on the way
// to the file, a folder that is created later. The contents are compared, so a touch is not reported. Events of the
// system are only a hint to look. If they are wrong or missing, a change is reported later, but never wrongly, and
// folders that the system cannot watch are looked at every two seconds.
//
// The package does not interpret the files: the reader decides whether a file is complete. It starts, stops and parses
// nothing, and no content of a file is logged.
package watch
