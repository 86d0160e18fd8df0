// Package config reads the configuration files of MCP hosts into one normal form
// with an origin for every server.
//
// It reads JSON with comments and trailing commas, in two shapes: {"mcpServers":
// {...}} and the {"servers": {...}} of VS Code. A server is a local process with
// a command, or something behind a URL. A mistake costs the entry that holds it
// and nothing else: [Load] never fails as a whole, and every [Problem] has its
// file, line, column, server and key.
//
// The package says what is configured. It starts nothing, expands no variables,
// watches no files and keeps no secrets, and a problem never shows the value of
// an argument, an environment variable, a header or a URL.
package config
