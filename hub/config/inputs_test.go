package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readInputs(t *testing.T, text string) ([]Input, []Problem) {
	t.Helper()
	doc, p := parse("f", []byte(text))
	if p != nil {
		t.Fatal(p)
	}
	l := loader{limits: ofUser, doc: doc}
	found := l.inputs(doc.root, Origin{File: "f", Pointer: "/inputs", Dialect: DialectVSCode, Scope: "workspace"})
	return found, ordered(l.problems)
}

func TestInputs(t *testing.T) {
	inputs, problems := readInputs(t, `[
  {"type": "promptString", "id": "token", "description": "The token", "password": true},
  {"type": "promptString", "id": "name", "description": "A name", "default": "me", "password": null},
  // a choice
  {"type": "pickString", "id": "level", "description": "How much", "options": ["low", {"label": "High!", "value": "high"}, {"value": "x"}], "default": "high"},
]`)
	at := func(line int, pointer string) Origin {
		return Origin{File: "f", Line: line, Pointer: pointer, Dialect: DialectVSCode, Scope: "workspace"}
	}
	want := []Input{
		{ID: "token", Description: "The token", Secret: true, Origin: at(2, "/inputs/0")},
		{ID: "name", Description: "A name", Default: "me", Origin: at(3, "/inputs/1")},
		{ID: "level", Description: "How much", Default: "high", Options: []InputOption{{"low", "low"}, {"high", "High!"},
			{"x", "x"}}, Origin: at(5, "/inputs/2")},
	}
	if diff := cmp.Diff(want, inputs); diff != "" || len(problems) != 0 {
		t.Errorf("%s %v", diff, problems)
	}
}

// Each input is between two good ones, which must be read.
func TestBrokenInputHidesNoOther(t *testing.T) {
	for _, tt := range []struct {
		input, problem string
		usable         bool
	}{
		{`7`, `f:2:1: key "inputs[1]": must be an object, is a number`, false},
		{`{"type": "promptString"}`, `f:2:1: key "inputs[1].id": is missing; a server that refers to this input cannot start`,
			false},
		{`{"type": "promptString", "id": 3}`, `f:2:32: key "inputs[1].id": must be a string`, false},
		{`{"type": "promptString", "id": ""}`, `f:2:32: key "inputs[1].id": must have 1 to 128`, false},
		{`{"type": "promptString", "id": "a}b"}`, `f:2:32: key "inputs[1].id": must have 1 to 128`, false},
		{`{"id": "x"}`, `f:2:1: key "inputs[1].type": is missing`, false},
		{`{"id": "x", "type": true}`, `f:2:21: key "inputs[1].type": must be a string, is a boolean`, false},
		{`{"id": "x", "type": "ask"}`, `f:2:21: key "inputs[1].type": "ask" is not known`, false},
		{`{"id": "x", "type": "command", "command": "rm", "args": ["-rf"]}`,
			`f:2:21: key "inputs[1].type": the input "x" is to run a command, which the hub never does; a server that`, false},
		{`{"id": "x", "type": "promptString", "description": []}`,
			`f:2:52: key "inputs[1].description": must be a string, is an array`, false},
		{`{"id": "x", "type": "promptString", "default": 1}`,
			`f:2:48: key "inputs[1].default": must be a string, is a number`, false},
		{`{"id": "x", "type": "promptString", "password": "yes"}`, `f:2:49: key "inputs[1].password": must be true or false`,
			false},
		{`{"id": "x", "type": "promptString", "options": []}`,
			`f:2:37: key "inputs[1].options": is not known for an input of type promptString and was ignored`, true},
		{`{"id": "x", "type": "pickString"}`, `f:2:1: key "inputs[1].options": is missing`, false},
		{`{"id": "x", "type": "pickString", "options": {}}`, `f:2:46: key "inputs[1].options": must be an array`, false},
		{`{"id": "x", "type": "pickString", "options": []}`, `f:2:46: key "inputs[1].options": holds nothing`, false},
		{`{"id": "x", "type": "pickString", "options": ["a", {"label": "b"}]}`,
			`f:2:52: key "inputs[1].options[1]": must be a string, or an object`, true},
		{`{"id": "x", "type": "pickString", "options": ["a"], "default": "b"}`,
			`f:2:64: key "inputs[1].default": is none of the options`, true},
		{`{"id": "x", "id": "y", "type": "promptString"}`, `f:2:2: key "inputs[1].id": comes again in line 2`, true},
		{`{"id": "first", "type": "promptString"}`,
			`f:2:1: key "inputs[1].id": "first" is the id of the input in line 1 already; this one is ignored`, false},
	} {
		t.Run(tt.input, func(t *testing.T) {
			inputs, problems := readInputs(t, `[{"type": "promptString", "id": "first"},`+"\n"+tt.input+
				`, {"type": "promptString", "id": "last"}]`)
			want := 2
			if tt.usable {
				want++
			}
			if len(inputs) != want || inputs[0].ID != "first" || inputs[want-1].ID != "last" {
				t.Errorf("inputs %+v", inputs)
			}
			if len(problems) != 1 || problems[0].Fatal || !strings.HasPrefix(problems[0].String(), tt.problem) {
				t.Errorf("problems %v\nwant %s", problems, tt.problem)
			}
		})
	}
	for _, text := range []string{`{}`, `"x"`, `3`} {
		if inputs, problems := readInputs(t, text); inputs != nil || len(problems) != 1 || problems[0].Key != "inputs" ||
			problems[0].Line != 1 {
			t.Errorf("%s: %v, %v", text, inputs, problems)
		}
	}
	if inputs, problems := readInputs(t, `null`); len(inputs)+len(problems) != 0 {
		t.Errorf("null: %v, %v", inputs, problems)
	}
}
