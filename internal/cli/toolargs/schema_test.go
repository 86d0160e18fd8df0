package toolargs

import (
	"fmt"
	"strings"
	"testing"
)

// A schema with many circular references is read up to a bound, so that a person who asks for a tool's arguments does
// not wait.
func TestSchemaInCirclesIsBounded(t *testing.T) {
	var ways strings.Builder
	for i := range 40 {
		fmt.Fprintf(&ways, `"p%d":{"$ref":"#/$defs/a"},`, i)
	}
	schema := Read(`{"inputSchema":{"type":"object","properties":{` + ways.String() +
		`"last":{"type":"string"}},"$defs":{"a":{"type":"object","properties":{` + ways.String() + `"x":{}}}}}}`)
	if n := count(&schema); n > 2*maxSchemas {
		t.Errorf("%d schemas were read", n)
	}
}

func count(a *Argument) int {
	n := 1
	for i := range a.Properties {
		n += count(&a.Properties[i])
	}
	return n
}
