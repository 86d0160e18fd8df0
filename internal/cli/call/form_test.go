package call

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/toolargs"
)

// typing returns a form that is given these lines, and what it prints.
func typing(lines ...string) (f *form, said *strings.Builder) {
	said = &strings.Builder{}
	f = &form{Streams: console.Streams{Err: said}}
	f.ask = func(question string) (string, error) {
		said.WriteString(question + "\n")
		if len(lines) == 0 {
			return "", console.ErrOver
		}
		line := lines[0]
		lines = lines[1:]
		if line == "\x1b" {
			return "", console.ErrBack
		}
		return line, nil
	}
	return f, said
}

// TestChooseByAPart: a part of names narrows the list, whose numbers stay; a part of one name is that name.
func TestChooseByAPart(t *testing.T) {
	names := []string{"read_file", "write_file", "list"}
	f, said := typing("FILE", "2")
	got, err := f.choose("Tool", names, nil)
	if got != "write_file" || err != nil || strings.Count(said.String(), "   3  list") != 1 ||
		strings.Count(said.String(), "   2  write_file") != 2 {
		t.Errorf("%q, %v\n%s", got, err, said)
	}
	f, said = typing("", "lsit", "writ")
	got, err = f.choose("Tool", names, nil)
	if got != "write_file" || err != nil || !strings.Contains(said.String(), `there is no "lsit"; did you mean "list"?`) {
		t.Errorf("%q, %v\n%s", got, err, said)
	}
	if _, err := f.choose("Tool", names, nil); err != console.ErrOver {
		t.Errorf("at the end of the input: %v", err)
	}
}

// TestFormGoesBack: Esc goes back to the question before, which is answered anew; from the first one it leaves.
func TestFormGoesBack(t *testing.T) {
	schema := toolargs.ReadSchema(`{"type":"object","required":["a","b"],"properties":{
		"a":{"type":"string"}, "b":{"type":"string"}, "c":{"type":"string"}}}`)
	f, said := typing("one", "two", "\x1b", "\x1b", "1", "2", "3")
	pairs, err := f.arguments(&schema, "")
	if diff := cmp.Diff([]string{"a=1", "b=2", "c=3"}, pairs); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s\n%s", err, diff, said)
	}
	f, _ = typing("one", "\x1b", "\x1b")
	if pairs, err := f.arguments(&schema, ""); err != console.ErrBack {
		t.Errorf("%v, %v", pairs, err)
	}
}

// TestFormChoices: values that a schema names are chosen by number, unless the number is one of them; the nearest is
// named for a mistake, and an optional argument is left out with Enter.
func TestFormChoices(t *testing.T) {
	schema := toolargs.ReadSchema(`{"type":"object","required":["kind","n"],"properties":{
		"kind":{"enum":["success","error"]}, "n":{"type":"integer","enum":[2,1,7]}, "more":{"type":"boolean"}}}`)
	f, said := typing("sucess", "2", "1", "")
	pairs, err := f.arguments(&schema, "")
	if diff := cmp.Diff([]string{"kind=error", "n=1"}, pairs); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, want := range []string{"   1  success\n", `did you mean "success"?`, "more (boolean, Enter leaves it out):"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
}
