// Package webview is the editor's page for Go programs: the files of src that a browser loads, as they are. The page
// itself is plain HTML, CSS and ES modules; nothing of it is written in Go.
package webview

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
		panic(err) // the name of a folder that is embedded always is one
	}
	return files
}()
