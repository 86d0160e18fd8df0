package catalog

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

// inputs converts what server.json calls inputs to texts, and collects what people have to fill in.
type inputs struct {
	prefix string
	p      *proposal.Proposal
	wrong  string // why the proposal cannot be used
}

// curly matches a variable in a value. A variable that is not declared stays as it is.
var curly = regexp.MustCompile(`\{([A-Za-z0-9_.-]{1,64})\}`)

// maxVariables and maxVariableBytes bound one text, because each of its variables is looked up.
const (
	maxVariables     = 100
	maxVariableBytes = 64 << 10 // of all declarations for it
)

// template replaces the declared variables of a text. A variable that occurs twice is asked for once.
func (in *inputs) template(name, text string, variables json.RawMessage) (t proposal.Text) {
	if len(curly.FindAllStringIndex(text, maxVariables+1)) > maxVariables || len(variables) > maxVariableBytes {
		in.wrong = "One of its texts has more variables than a person can look at."
		return proposal.Literal("")
	}
	asked := map[string]string{}
	t, _ = replace(text, curly, func(variable, unknown string) (proposal.Part, error) {
		declared := jsontext.Get(variables, variable)
		if declared == nil {
			return proposal.Part{Literal: unknown}, nil
		}
		if value := jsontext.Get(declared, "value"); jsontext.IsString(value) || scalar(value) != "" {
			return proposal.Part{Literal: scalar(value)}, nil
		}
		if asked[variable] == "" {
			asked[variable] = in.ask(name+"."+variable, variable, declared, true)
		}
		return proposal.Part{Input: asked[variable]}, nil
	})
	return t
}

// value returns the text of an input: the value that its publisher has fixed, or what people fill in.
func (in *inputs) value(name, title string, v json.RawMessage) proposal.Text {
	if value := jsontext.Get(v, "value"); jsontext.IsString(value) || scalar(value) != "" {
		return in.template(name, scalar(value), jsontext.Get(v, "variables"))
	}
	return proposal.Text{{Input: in.ask(name, title, v, false)}}
}

// ask adds an input for people, and returns its id. A variable of a text is required even if its declaration does not
// say so, unless it has a default: the text is not valid without it.
func (in *inputs) ask(name, title string, v json.RawMessage, variable bool) string {
	if len(in.p.Inputs) >= proposal.MaxInputs {
		in.wrong = "It has more inputs than a person can look at."
		return in.p.Inputs[0].ID // the proposal is unusable, so any id will do
	}
	i := proposal.Input{ID: in.id(name), Title: title, Description: text(v, "description"),
		Required: truth(v, "isRequired") || variable, Secret: truth(v, "isSecret"), Placeholder: text(v, "placeholder"),
		Multiple: truth(v, "isRepeated")}
	switch text(v, "format") {
	case "number":
		i.Type = proposal.TypeNumber
	case "boolean":
		i.Type = proposal.TypeBoolean
	case "filepath":
		i.Type = proposal.TypeFile
	}
	jsontext.Elements(jsontext.Get(v, "choices"), func(c json.RawMessage) bool {
		if s := jsontext.String(c); s != "" {
			i.Choices = append(i.Choices, s)
		}
		return len(i.Choices) < 500
	})
	if d := scalar(jsontext.Get(v, "default")); d != "" {
		i.Defaults = []string{d}
	}
	if i.Choices != nil && len(i.Defaults) > 0 && !slices.Contains(i.Choices, i.Defaults[0]) {
		i.Defaults = nil
	}
	in.p.Inputs = append(in.p.Inputs, i)
	return i.ID
}

// scalar returns a default as a text: some publishers write numbers and booleans without quotes.
func scalar(v json.RawMessage) string {
	switch {
	case v == nil || jsontext.IsNull(v) || v[0] == '{' || v[0] == '[':
		return ""
	case jsontext.IsString(v):
		return jsontext.String(v)
	}
	return string(v)
}

// id returns an unused id for an input.
func (in *inputs) id(name string) string {
	base := proposal.ID(in.prefix, strings.TrimLeft(name, "-"))
	id := base
	for n := 2; ; n++ {
		if _, taken := in.p.Input(id); !taken {
			return id
		}
		id = base + "_" + strconv.Itoa(n)
	}
}

// arguments returns groups of arguments. A flag and its value become two words, as VS Code passes them, because
// publishers test with VS Code; the schema says --flag=value.
func (in *inputs) arguments(list json.RawMessage) (groups []proposal.Group) {
	jsontext.Elements(list, func(v json.RawMessage) bool {
		switch text(v, "type") {
		case "named":
			name := text(v, "name")
			if name == "" {
				in.wrong = "One of its arguments has no name."
				return false
			}
			g := proposal.Group{proposal.Literal(name)}
			if says(v) {
				g = append(g, in.value(name, name, v))
			}
			groups = append(groups, g)
		case "positional":
			title := text(v, "valueHint")
			if title == "" {
				title = "argument"
			}
			groups = append(groups, proposal.Group{in.value(title, title, v)})
		default:
			in.wrong = "One of its arguments is of a kind that is not known."
			return false
		}
		return len(groups) < 500
	})
	return groups
}

// says reports whether a flag has a value.
func says(v json.RawMessage) bool {
	return slices.ContainsFunc([]string{"value", "default", "valueHint", "choices", "placeholder", "format", "isSecret"},
		func(key string) bool { return jsontext.Get(v, key) != nil }) || truth(v, "isRequired")
}

func (in *inputs) environment(list json.RawMessage) {
	in.p.Env = in.named(list, envName.MatchString, "One of its variables has no name, or one that no variable has.")
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]{1,256}$`)

func (in *inputs) headers(list json.RawMessage) {
	fits := func(name string) bool { return headerName.MatchString(name) && http.CanonicalHeaderKey(name) != "Host" }
	in.p.Headers = in.named(list, fits, "One of its headers has no name, or one that must not be set.")
}

// named returns texts with names; wrong is why the proposal cannot be used if a name does not fit.
func (in *inputs) named(list json.RawMessage, fits func(name string) bool, wrong string) (all []proposal.Named) {
	jsontext.Elements(list, func(v json.RawMessage) bool {
		name := text(v, "name")
		if !fits(name) {
			in.wrong = wrong
			return false
		}
		all = append(all, proposal.Named{Name: name, Text: in.value(name, name, v)})
		return len(all) < 500
	})
	return all
}
