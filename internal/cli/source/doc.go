// Package source has the flags that say where servers come from: config files, a command, a URL, or the files of this
// user. It makes the config for the hub of them, and prints the problems of a config.
//
// What must not live here: the dialects of config files (hub/config).
package source
