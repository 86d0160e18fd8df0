// Package session opens a hub for a command that makes no request: one that lists something, or starts servers.
//
// What must not live here: what is listed.
package session
