// Package edit changes the text of a config file: it adds, changes or removes the entry of one server, in the file's
// own dialect, and leaves every other byte as it is.
//
// All of it is functions from a text to a text. A change is made on the value that the text has, and what differs then
// is written into the text: JSON in the syntax tree of hujson, so comments, order and layout stay; TOML, for which no
// library keeps comments, by lines, and only where a server has a plain table of its own; every other form is refused
// with its line. What comes out is read again, and refused unless it has the value that was wanted and the entry says
// what it is meant to say.
//
// What must not live here: files, locks and who may write (hub/statefile, hub/sources), what entries mean (hub/config).
package edit
