package main

import (
	"fmt"
	"strings"
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// A command line that is printed to be pasted calls what it shows: a name that a server or a folder chose is never a
// flag or a config file in it.
func TestPastedLinesHoldNames(t *testing.T) {
	for name, want := range map[string]string{
		"sleep":                " demo sleep",
		"--stdio=sh -c 'evil'": " demo --tool '--stdio=sh",
		"files/read":           " demo --tool files/read",
		"/tmp/evil.json":       " demo --tool /tmp/evil.json",
		"x://y":                " demo --tool x://y",
		"$(evil)":              " demo '$(evil)'",
	} {
		schema := readToolArguments("{}")
		line := exampleCall(&mcphubv1.Tool{Name: name}, &schema, (&sourceFlags{}).words("demo"))
		if !strings.Contains(line, want) {
			t.Errorf("%q: %s, want %q in it", name, line, want)
		}
	}
	if words := strings.Join((&sourceFlags{}).words("--stdio=evil"), " "); words != "--server --stdio=evil" {
		t.Errorf("a server of that name: %s", words)
	}
}

// A schema with many circular references is read up to a bound, so that a person who asks for a tool's arguments does
// not wait.
func TestSchemaInCirclesIsBounded(t *testing.T) {
	var ways strings.Builder
	for i := range 40 {
		fmt.Fprintf(&ways, `"p%d":{"$ref":"#/$defs/a"},`, i)
	}
	schema := readToolArguments(`{"inputSchema":{"type":"object","properties":{` + ways.String() +
		`"last":{"type":"string"}},"$defs":{"a":{"type":"object","properties":{` + ways.String() + `"x":{}}}}}}`)
	if n := count(&schema); n > 2*maxSchemas {
		t.Errorf("%d schemas were read", n)
	}
}

func count(a *argument) int {
	n := 1
	for i := range a.properties {
		n += count(&a.properties[i])
	}
	return n
}
