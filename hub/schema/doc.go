// Package schema checks JSON values against JSON Schemas that come from servers: the outputSchema of a tool, the
// requestedSchema of a form.
//
// The validator ([jsonschema]) has no limit in time, depth or memory, and a schema of a kilobyte may lead to the same
// value on 2^40 paths, or in a cycle. So its work is counted before it is called, by a walk that goes its way and stops
// where the work is too much (package bounds defines how much). Then the check is not made at all. There is no timer,
// and so no goroutine that a timer would abandon.
//
// A value that was not checked is not wrong. The caller decides what to do with it, and reports that.
package schema
