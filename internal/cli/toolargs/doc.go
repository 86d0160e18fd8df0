// Package toolargs reads the schema of a tool for people, and arguments that people type by that schema.
//
// What must not live here: how arguments are asked for, and the check that the hub makes (hub/schema).
package toolargs
