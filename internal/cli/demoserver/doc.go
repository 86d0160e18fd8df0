// Package demoserver has mcphub demo-server, the command that is the demo's server.
//
// What must not live here: what the server does (internal/demoserver).
package demoserver
