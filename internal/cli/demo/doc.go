// Package demo has mcphub demo, which plays what a user, an editor with two windows and a server do to each other, and
// checks each step; or shows the demo's servers on the editor's page.
//
// What must not live here: the demo's server (internal/demoserver).
package demo
