// Package config reads the configuration files of MCP hosts into one normal form
// with an origin for every server.
//
// It reads JSON with comments and trailing commas, in two shapes: {"mcpServers":
// {...}} and the {"servers": {...}} of VS Code. Only servers that run as a local
// process are usable so far; others are reported by name. A mistake costs the
// entry that holds it and nothing else: [Load] never fails as a whole, and every
// [Problem] has its file, line, column, server and key.
//
// The package says what is configured. It starts nothing, expands no variables,
// watches no files and keeps no secrets, and a problem never shows the value of
// an argument or of an environment variable.
package config
