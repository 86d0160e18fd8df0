package questions

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/toolargs"
)

// Bounds of what is shown of a question: the one who asks decides how much it is.
const (
	maxArgumentBytes = 16 << 10 // of the arguments of a call together
	maxFields        = 50       // of a form
	maxMessages      = 10       // of a completion
)

var plainName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// argumentLines returns lines with the arguments of a call, one argument on each line, as JSON, so that a text that
// looks like another line stays within its quotes. They are shown in full up to a bound, since nobody can approve what
// is not shown. If something is left out, a conspicuous line says so.
func argumentLines(text string) []string {
	b := []byte(text)
	if !jsontext.IsObject(b) {
		return console.Lines("  arguments: %s", console.OrDash(text))
	}
	lines := []string{"  arguments:"}
	used, hidden := 0, 0
	jsontext.Members(b, func(name []byte, value json.RawMessage) bool {
		shown := string(name)
		if !plainName.MatchString(shown) {
			shown = strconv.Quote(shown)
		}
		line := console.Escape("    " + shown + ": " + string(value))
		if used += len(line); used > maxArgumentBytes {
			hidden += len(name) + len(value)
			return true
		}
		lines = append(lines, line)
		return true
	})
	switch {
	case len(lines) == 1 && hidden == 0:
		return []string{"  arguments: none"}
	case hidden > 0:
		lines = append(lines, fmt.Sprintf("    NOT SHOWN: %s more of arguments. Say no unless you know them.",
			bounds.Bytes(hidden)))
	}
	if name, twice := jsontext.Repeated(b); twice {
		lines = append(lines, console.Lines("    NOTE: %q is there twice: a server may take either", name)...)
	}
	return lines
}

// fieldLines returns lines with the fields of a form: their names, their types, and their descriptions.
func fieldLines(schema string) []string {
	form := toolargs.ReadSchema(schema)
	if len(form.Properties) == 0 {
		return console.Lines("  form: %s", console.Cut(schema, 2000))
	}
	var lines []string
	for i, f := range form.Properties {
		if i == maxFields {
			return append(lines, fmt.Sprintf("    and %d more fields", len(form.Properties)-i))
		}
		lines = append(lines, console.Lines("    %s: %s", console.ShortName(f.Name), console.Cut(f.About(), 400))...)
	}
	return lines
}

// messageLines returns lines with what a model would be asked (2025-11-25 client/sampling, "Creating Messages").
func messageLines(request string) []string {
	var lines []string
	if system := jsontext.String(jsontext.Get([]byte(request), "systemPrompt")); system != "" {
		lines = append(lines, console.Lines("    system: %s", console.Cut(system, 400))...)
	}
	n := 0
	jsontext.Elements(jsontext.Get([]byte(request), "messages"), func(m json.RawMessage) bool {
		if n++; n > maxMessages {
			return true
		}
		content := jsontext.Get(m, "content")
		text := jsontext.String(jsontext.Get(content, "text"))
		if jsontext.String(jsontext.Get(content, "type")) != "text" {
			text = console.Cut(string(content), 400)
		}
		role := jsontext.String(jsontext.Get(m, "role"))
		lines = append(lines, console.Lines("    %s: %s", role, console.Cut(text, 400))...)
		return true
	})
	if n == 0 {
		return console.Lines("  %s", console.Cut(request, 2000))
	}
	if n > maxMessages {
		lines = append(lines, fmt.Sprintf("    and %d more messages", n-maxMessages))
	}
	return lines
}
