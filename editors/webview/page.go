// Package webview is the editor's page for Go programs: the files of this folder that a browser loads, as they are. The
// page itself is plain HTML, CSS and ES modules; nothing of it is written in Go.
package webview

import "embed"

// Files holds page.html, which is a template, and the scripts and styles that it names. The pattern takes names that
// end like .html, .js and .css, and so leaves out package.json, tsconfig.json and this file.
//
//go:embed *.*[sl]
var Files embed.FS
