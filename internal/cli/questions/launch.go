package questions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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
