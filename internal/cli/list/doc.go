// Package list has the commands that list: servers, tools, resources and prompts.
//
// What must not live here: the hub that they use (package session).
package list
