// Package schema checks JSON values against JSON Schemas that come from servers: the outputSchema of a tool, the
// requestedSchema of a form.
//
// The validator ([jsonschema]) has no limit in time, depth or memory, and a schema of a kilobyte may lead to the same
// value on 2^40 paths, or in a cycle. So its work is computed before it is called: that computation visits each pair of
// subschema and value once, however often the validator would visit it. A check that would take too long (package
// bounds defines how long) is not made at all. There is no timer, and so no goroutine that a timer would abandon.
//
// A value that was not checked is not wrong. The caller decides what to do with it, and reports that.
package schema
