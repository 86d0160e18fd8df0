// Package docs has mcphub docs, which writes the help of all commands as Markdown and as man pages.
//
// What must not live here: the help itself (package cmd, and each command).
package docs
