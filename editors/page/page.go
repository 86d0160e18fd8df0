// Package page provides the editor's page to Go programs, as it is built: they need no Node for it. The page itself is
// TypeScript. No part of it is written in Go.
package page

import (
	"embed"
	"io/fs"
)

//go:embed dist
var built embed.FS

// Files holds page.html, which is a template, and the scripts and styles that it names.
var Files = func() fs.FS {
	files, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // cannot happen: dist is embedded, so its name is valid
	}
	return files
}()
