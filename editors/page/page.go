// Package page provides the editor's page to Go programs: the files of src that a browser loads, unchanged. The page
// itself consists of plain HTML, CSS and ES modules. No part of it is written in Go.
package page

import (
	"embed"
	"io/fs"
)

//go:embed src
var sources embed.FS

// Files holds page.html, which is a template, and the scripts and styles that it names.
var Files = func() fs.FS {
	files, err := fs.Sub(sources, "src")
	if err != nil {
		panic(err) // cannot happen: src is embedded, so its name is valid
	}
	return files
}()
