// Package console is what commands print and read: the standard streams, text that is harmless on a terminal, tables,
// lines of JSON, colours, the line that shows progress, and typed lines.
//
// What must not live here: what is printed, and where it comes from.
package console
