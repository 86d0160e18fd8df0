package hub

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// What a value may be: text that fits into an environment variable. The error about a wrong one does not quote it.
func TestWrong(t *testing.T) {
	const most = 64 << 10
	text := func(n int, s string) string { return `"` + strings.Repeat(s, n) + `"` }
	options := []event.InputOption{{Value: "a", Label: "A"}, {Value: ""}}
	for name, row := range map[string]struct {
		content string
		options []event.InputOption
		wrong   string
	}{
		"text":                     {`"x y"`, nil, ""},
		"nothing":                  {`""`, nil, ""},
		"blanks around":            {" \"x\"\n", nil, ""},
		"no content":               {``, nil, "a JSON string"},
		"null":                     {`null`, nil, "a JSON string"},
		"a number":                 {`1`, nil, "a JSON string"},
		"an object":                {`{"value":"tok-9"}`, nil, "a JSON string"},
		"two":                      {`"tok-9" "tok-9"`, nil, "a JSON string"},
		"cut short":                {`"tok-9`, nil, "a JSON string"},
		"a zero byte":              {`"tok-9\u0000"`, nil, "zero byte"},
		"as long as it may be":     {text(most, "x"), nil, ""},
		"longer":                   {text(most+1, "x"), nil, "at most 65536 bytes"},
		"as long, each escaped":    {text(most-1, `\u0041`), nil, ""},
		"escaped, and longer":      {text(most+1, `\u0041`), nil, "a JSON string"},
		"long in bytes":            {text(most/2+1, "ä"), nil, "at most 65536 bytes"},
		"blanks without end":       {strings.Repeat(" ", 6*most) + `"x"`, nil, "a JSON string"},
		"an option":                {`"a"`, options, ""},
		"an option that is empty":  {`""`, options, ""},
		"the label of an option":   {`"A"`, options, "none of the options"},
		"none of the options":      {`"tok-9"`, options, "none of the options"},
		"an option and more":       {`"a "`, options, "none of the options"},
		"an option with an escape": {`"\u0061"`, options, ""},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := wrongInput(&event.InputQuestion{Options: row.options}, row.content)
			if row.wrong == "" && wrong != "" || !strings.Contains(wrong, row.wrong) || strings.Contains(wrong, "tok-9") {
				t.Errorf("wrong: %q", wrong)
			}
		})
	}
}

// A question that is open is outdated when the file asks otherwise, and not when the input stands on another line or is
// gone: then what was asked is answered.
func TestChanged(t *testing.T) {
	in := config.Input{ID: "x", Description: "d", Default: "a", Origin: config.Origin{File: inputFile, Line: 3},
		Options: []config.InputOption{{Value: "a", Label: "A"}}}
	q := inputQuestion(in)
	for name, row := range map[string]struct {
		change func(*config.Input)
		want   bool
	}{
		"nothing":       {func(*config.Input) {}, false},
		"line":          {func(in *config.Input) { in.Origin.Line = 30 }, false},
		"description":   {func(in *config.Input) { in.Description = "e" }, true},
		"secret":        {func(in *config.Input) { in.Secret = true }, true},
		"default":       {func(in *config.Input) { in.Default = "" }, true},
		"label":         {func(in *config.Input) { in.Options = []config.InputOption{{Value: "a", Label: "B"}} }, true},
		"any text":      {func(in *config.Input) { in.Options = nil }, true},
		"another input": {func(in *config.Input) { in.ID = "y" }, false},
		"another file":  {func(in *config.Input) { in.Origin.File = "/other"; in.Description = "e" }, false},
	} {
		now := in
		row.change(&now)
		conf := &config.Server{Inputs: []config.Input{{ID: "x", Origin: config.Origin{File: "/first"}}, now}}
		if inputChanged(conf, q) != row.want {
			t.Errorf("%s: changed is %v", name, !row.want)
		}
		of := inputNow(conf, in)
		if same := now.ID == in.ID && now.Origin.File == inputFile; same && of.Description != now.Description ||
			!same && of.Description != in.Description {
			t.Errorf("%s: the input is now %+v", name, of)
		}
	}
}
