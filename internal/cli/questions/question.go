// Package questions describes the prompts of a hub, and answers them: as the flags of a command say, or by asking a
// person at the terminal.
//
// What must not live here: what else a window gets (package events).
package questions

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/toolargs"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Lines describes a prompt: who asks, and exactly what.
func Lines(p *mcphubv1.Prompt) []string {
	name := p.GetPromptId()
	switch q := p.GetQuestion().(type) {
	case *mcphubv1.Prompt_ToolApproval:
		a := q.ToolApproval
		lines := console.Lines("question %s: may %s run on %s?", name, console.ShortName(a.GetTool()), p.GetServer())
		if about := console.FirstLine(a.GetDescription()); about != "" {
			lines = append(lines, "  "+console.Escape(console.Cut(about, 200)))
		}
		lines = append(lines, argumentLines(a.GetArgumentsJson())...)
		return append(lines, changedLines("its definition has changed since you allowed it:", a.GetChanges())...)
	case *mcphubv1.Prompt_Sampling:
		return append(console.Lines("question %s: %s asks for a completion of your model", name, p.GetServer()),
			messageLines(q.Sampling.GetRequestJson())...)
	case *mcphubv1.Prompt_ElicitationForm:
		return append(console.Lines("question %s: %s asks: %s", name, p.GetServer(), q.ElicitationForm.GetMessage()),
			fieldLines(q.ElicitationForm.GetSchemaJson())...)
	case *mcphubv1.Prompt_ElicitationUrl:
		ask := "asks you to visit"
		if q.ElicitationUrl.GetWaiting() {
			ask = "waits until you are done at"
		}
		return append(console.Lines("question %s: %s %s %s: %s", name, p.GetServer(), ask, q.ElicitationUrl.GetUrlHost(),
			q.ElicitationUrl.GetMessage()),
			"  "+console.Escape(q.ElicitationUrl.GetUrl()))
	case *mcphubv1.Prompt_SignIn:
		return signInQuestion(name, p.GetServer(), q.SignIn)
	case *mcphubv1.Prompt_ServerLaunch:
		return launchQuestion(name, p.GetServer(), q.ServerLaunch)
	case *mcphubv1.Prompt_ConfigInput:
		return inputQuestion(name, p.GetServer(), q.ConfigInput)
	}
	return console.Lines("question %s: %s asks something that is newer than this command", name, p.GetServer())
}

// signInQuestion describes a sign-in. It shows the host and the issuer, by which a person decides, since the page will
// ask for a password. The address is shown in full, on its own line, so that it can be copied or clicked in a terminal.
func signInQuestion(name, server string, q *mcphubv1.SignIn) []string {
	if q.GetWaiting() {
		return console.Lines("question %s: waiting until you have signed in at %s", name, q.GetUrlHost())
	}
	lines := console.Lines("question %s: server %s wants you to sign in at %s (issuer %s)", name, server, q.GetUrlHost(),
		console.OrDash(q.GetIssuer()))
	if len(q.GetScopes()) > 0 {
		lines = append(lines, console.Lines("  for: %s", strings.Join(q.GetScopes(), " "))...)
	}
	return append(append(lines, "  Open this page in a browser:"), console.Lines("  %s", q.GetUrl())...)
}

// launchQuestion describes exactly and completely what would be run or connected to, one item on a line: nobody can
// agree to what is not shown.
func launchQuestion(name, server string, q *mcphubv1.ServerLaunch) []string {
	brings := "A file of the workspace brings it"
	if by := q.GetWrittenBy(); by != nil {
		brings = "The program " + strconv.Quote(by.GetName()) + " had its entry written" // the name is its own choice
	}
	lines := console.Lines("question %s: may server %s be started? %s: %s", name, exact(server), brings,
		exact(console.Place(q.GetConfigFile(), q.GetConfigLine())))
	add := func(what string, values ...string) {
		for _, v := range values {
			if v != "" {
				lines = append(lines, "  "+what+": "+exact(v))
			}
		}
	}
	add("command", q.GetCommand())
	for _, arg := range q.GetArgs() { // even if it is empty
		lines = append(lines, "  argument: "+exact(arg))
	}
	add("address", q.GetUrl())
	switch {
	case q.GetResolvedTarget() != "":
		lines = append(lines, "  runs the program: "+exact(q.GetResolvedCommand())+", which is "+exact(q.GetResolvedTarget()))
	case q.GetUnresolved() != "":
		lines = append(lines, console.Lines("  which program that is, is not known: %s", q.GetUnresolved())...)
	default:
		add("runs the program", q.GetResolvedCommand())
	}
	add("found in", q.GetResolvedFrom())
	add("directory", q.GetDirectory())
	lines = append(lines, launchVariables(q)...)
	add("sends the header", q.GetHeaderNames()...)
	add("would see your variable", q.GetEnvironmentReferences()...)
	add("inherits your setting", q.GetInheritedNames()...)
	add("would be given your input", q.GetInputReferences()...)
	add("variables from the file", q.GetEnvFile())
	add("that file sets the variable", q.GetEnvFileNames()...)
	add("reads the file", q.GetFiles()...)
	add("wants to be called without a question", q.GetAllowedTools()...)
	if q.GetChanged() && len(q.GetChanges()) == 0 {
		lines = append(lines, "  it has changed since you agreed to it")
	}
	var changes []*mcphubv1.DefinitionChange
	for _, c := range q.GetChanges() {
		changes = append(changes, &mcphubv1.DefinitionChange{Path: spelled(c.GetPath()),
			BeforeJson: spelled(c.GetBeforeJson()), AfterJson: spelled(c.GetAfterJson())})
	}
	return append(lines, changedLines("it has changed since you agreed to it:", changes)...)
}

// launchVariables describes the variables that the file sets. Those that can load other code come first, with a
// warning.
func launchVariables(q *mcphubv1.ServerLaunch) (lines []string) {
	told := map[string]bool{}
	for _, v := range q.GetEnvironment() {
		told[v.GetName()] = true
	}
	for _, warns := range []bool{true, false} {
		for _, v := range q.GetEnvironment() {
			if v.GetLoadsCode() != warns {
				continue
			}
			text := "  sets the variable: "
			if warns {
				text = "  WARNING, can load other code: "
			}
			switch {
			case v.GetUnset():
				text += exact(v.GetName()) + " is taken away"
			default:
				text += exact(v.GetName()) + "=" + exact(v.GetValue())
			}
			lines = append(lines, text)
		}
	}
	for _, name := range q.GetEnvironmentNames() {
		if !told[name] {
			lines = append(lines, "  sets the variable: "+exact(name))
		}
	}
	return lines
}

// inputQuestion describes what a config file asks for.
func inputQuestion(name, server string, q *mcphubv1.ConfigInput) []string {
	about := q.GetDescription()
	if about == "" {
		about = "a value for " + q.GetInputId()
	}
	lines := console.Lines("question %s: server %s needs the input %s: %s", name, server, q.GetInputId(), about)
	lines = append(lines, console.Lines("  asked for by: %s", console.Place(q.GetConfigFile(), q.GetConfigLine()))...)
	for i, o := range q.GetOptions() {
		text := exact(o.GetValue())
		if o.GetLabel() != "" && o.GetLabel() != o.GetValue() {
			text = console.Escape(o.GetLabel()) + " (" + text + ")"
		}
		lines = append(lines, fmt.Sprintf("  %d: %s", i+1, text))
	}
	return lines
}

// changedLines describes the differences between what was agreed to and what there is now.
func changedLines(title string, changes []*mcphubv1.DefinitionChange) []string {
	if len(changes) == 0 {
		return nil
	}
	lines := []string{"  " + title}
	for _, c := range changes {
		before, after, path := c.GetBeforeJson(), c.GetAfterJson(), c.GetPath()
		if path == "" { // it is too large to be compared
			path = "the whole"
		}
		switch {
		case before == "":
			lines = append(lines, console.Lines("    %s is new: %s", path, after)...)
		case after == "":
			lines = append(lines, console.Lines("    %s is gone; it was %s", path, before)...)
		default:
			lines = append(lines, console.Lines("    %s was %s", path, before)...)
			lines = append(lines, console.Lines("    %s is  %s", path, after)...)
		}
	}
	return lines
}

// exact returns a text in a form that no other text has and that looks like no other: as it is, in quotes if something
// in it is invisible, and with its letters spelled out if some are not ASCII.
func exact(s string) string {
	unseen := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if s == "" || strings.HasPrefix(s, `"`) || strings.TrimSpace(s) != s || strings.ContainsFunc(s, unseen) {
		return strconv.QuoteToASCII(s)
	}
	return spelled(s)
}

// spelled returns a text, and how it is spelled if not all of its characters are ASCII: a letter of another script can
// look exactly like one of them.
func spelled(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return s + " (spelled " + strconv.QuoteToASCII(s) + ")"
	}
	return s
}

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
