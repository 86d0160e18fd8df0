package proposal

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValuesThatDoNotFit(t *testing.T) {
	low, high := 1.0, 10.0
	p := &Proposal{Command: "x", Inputs: []Input{{ID: "n", Title: "N", Type: TypeNumber, Min: &low, Max: &high},
		{ID: "b", Title: "B", Type: TypeBoolean}, {ID: "c", Title: "C", Choices: []string{"x", "y"}}, {ID: "t", Title: "T"},
		{ID: "m", Title: "M", Multiple: true}}}
	for _, tt := range []struct {
		id     string
		values []string
		ok     bool
	}{
		{"n", []string{"3.5"}, true}, {"n", []string{"0"}, false}, {"n", []string{"11"}, false},
		{"n", []string{"NaN"}, false}, {"n", []string{"x"}, false}, {"b", []string{"true"}, true},
		{"b", []string{"yes"}, false}, {"c", []string{"y"}, true}, {"c", []string{"z"}, false},
		{"t", []string{strings.Repeat("x", 64<<10)}, true}, {"t", []string{strings.Repeat("x", 64<<10+1)}, false},
		{"t", []string{"a\x00b"}, false}, {"t", []string{"\xff"}, false}, {"t", []string{"a", "b"}, false},
		{"m", []string{"a", "b"}, true}, {"m", make([]string, 1000), true}, {"z", []string{"1"}, false},
		{"m", strings.Split(strings.Repeat("x,", 200), ","), false},
	} {
		_, err := p.Fill(map[string][]string{tt.id: tt.values})
		wrong, is := errors.AsType[*InputError](err)
		if (err == nil) != tt.ok || is && wrong.ID != tt.id {
			t.Errorf("%s %.40q: %v", tt.id, tt.values, err)
		}
	}
}

// A default counts until another value is given; an empty one takes it away.
func TestDefaults(t *testing.T) {
	p := &Proposal{Command: "x", Args: []Group{{Literal("--unit"), Text{{Input: "u"}}}, {Text{{Input: "need"}}}},
		Inputs: []Input{{ID: "u", Defaults: []string{"c"}}, {ID: "need", Required: true}}}
	for _, tt := range []struct {
		given   map[string][]string
		want    []string
		missing []string
	}{
		{nil, []string{"--unit", "c"}, []string{"need"}},
		{map[string][]string{"u": {"f"}, "need": {"n"}}, []string{"--unit", "f", "n"}, nil},
		{map[string][]string{"u": {}, "need": {"n"}}, []string{"n"}, nil},
		{map[string][]string{"u": {"${input:u}"}, "need": {"n"}}, []string{"--unit", "${input:u}", "n"}, nil},
		{map[string][]string{"u": {""}, "need": {""}}, nil, []string{"need"}},
	} {
		e, err := p.Fill(tt.given)
		if err != nil || !cmp.Equal(tt.want, e.Args) || !cmp.Equal(tt.missing, e.Missing) {
			t.Errorf("%v: %q missing %v, %v", tt.given, e.Args, e.Missing, err)
		}
	}
	if got := p.Outline().Args; !cmp.Equal([]string{"--unit", "${input:u}", "${input:need}"}, got) {
		t.Error(got)
	}
}

// A default is typed for a person by a stranger: one that would read the user's environment is not offered.
func TestDefaultsThatAreVariables(t *testing.T) {
	p := &Proposal{Command: "x", Args: []Group{{Text{{Input: "a"}}}}, Inputs: []Input{{ID: "a",
		Defaults: []string{"${env:AWS_SECRET_ACCESS_KEY}", "plain", "a\u202eb"},
		Choices:  []string{"$(id)", "plain", "`id`"}}}}
	p.Check()
	if in := p.Inputs[0]; !cmp.Equal(in.Defaults, []string{"plain"}) || !cmp.Equal(in.Choices, []string{"plain"}) {
		t.Errorf("%q %q", in.Defaults, in.Choices)
	}
	p = &Proposal{Command: "x", Env: []Named{{Name: "npm_config_registry", Text: Literal("https://evil.example")}}}
	if p.Check(); len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "npm_config_registry") {
		t.Errorf("%q", p.Warnings)
	}
}

// One value may stand in many places: the entry is bounded, not only the value.
func TestEntriesAreBounded(t *testing.T) {
	p := &Proposal{Command: "x", Inputs: []Input{{ID: "a"}}}
	for range 400 {
		p.Args = append(p.Args, Group{Text{{Input: "a"}, {Input: "a"}}})
	}
	if p.Check(); p.Unusable != "" {
		t.Fatal(p.Unusable)
	}
	if _, err := p.Fill(map[string][]string{"a": {strings.Repeat("x", maxValueBytes)}}); err == nil {
		t.Error("an entry of 50 MB")
	}
	if _, err := p.Fill(map[string][]string{"a": {"x"}}); err != nil {
		t.Error(err)
	}
	p.Args = append(p.Args, Group{make(Text, maxParts)})
	if p.Check(); p.Unusable == "" {
		t.Error("more than a thousand parts are taken")
	}
}
