// Package schema checks JSON values against JSON Schemas that strangers wrote: the outputSchema of a tool, the
// requestedSchema of a form.
//
// The validator ([jsonschema]) has no limit in time, depth or memory, and a schema of a kilobyte may lead to the same
// value on 2^40 ways, or in a circle. So nothing is given to it before its work has been counted: each pair of
// subschema and value is looked at once, however often the validator would come to it, and what would take too long
// (package bounds says how much) is not checked at all. There is no timer, and no goroutine that one would leave
// behind.
//
// What is not checked is not wrong. Who asked decides what to do with it, and says so.
package schema
