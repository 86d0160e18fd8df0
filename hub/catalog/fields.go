package catalog

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

// maxText is how many bytes of a text that people read are kept.
const maxText = 1000

// envName is the form of a name of an environment variable.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)

// text returns a member of an object in a registry's answer or in a manifest, or "" if that is no string.
func text(object json.RawMessage, name string) string {
	return jsontext.String(jsontext.Get(object, name))
}

func truth(object json.RawMessage, name string) bool {
	return string(jsontext.Get(object, name)) == "true"
}

// replace replaces the variables in a text, which are the first group of re, by what value returns for each.
func replace(text string, re *regexp.Regexp,
	value func(name, whole string) (proposal.Part, error)) (t proposal.Text, err error) {
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t = append(t, proposal.Part{Literal: literal.String()})
		}
		literal.Reset()
	}
	at := 0
	for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
		part, err := value(text[m[2]:m[3]], text[m[0]:m[1]])
		if err != nil {
			return nil, err
		}
		literal.WriteString(text[at:m[0]] + part.Literal)
		at = m[1]
		if part.Input != "" {
			flush()
			t = append(t, part)
		}
	}
	literal.WriteString(text[at:])
	if flush(); t == nil {
		t = proposal.Literal("")
	}
	return t, nil
}
