package main

import (
	"fmt"
	"io"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// maxNested bounds how deep the arguments of a tool are described.
const maxNested = 4

// writeTool describes one tool: what it does, its arguments, and a command line that calls it.
func writeTool(w io.Writer, t *mcphubv1.Tool, source []string) {
	width := helpWidth(w)
	title := shortName(t.GetName())
	if t.GetTitle() != "" && t.GetTitle() != t.GetName() {
		title += ": " + t.GetTitle()
	}
	fmt.Fprint(w, hung(escape(title)+" ("+word(t.GetPolicy(), "APPROVAL_POLICY_")+")", 2, width))
	for line := range strings.Lines(strings.TrimSpace(t.GetDescription())) {
		fmt.Fprint(w, hung("  "+escape(strings.TrimRight(line, "\r\n")), 2, width))
	}
	schema := readToolArguments(t.GetDefinitionJson())
	if len(schema.properties) == 0 {
		fmt.Fprintln(w, "\nNo arguments are named.")
	} else {
		fmt.Fprintln(w, "\nArguments:")
		writeArguments(w, &schema, "", width, maxNested)
	}
	fmt.Fprintf(w, "\nFor example:\n  %s\n", exampleCall(t, &schema, source))
}

func writeArguments(w io.Writer, of *argument, prefix string, width, depth int) {
	for _, a := range of.properties {
		var entry strings.Builder
		writeEntry(&entry, escape(shortName(prefix+a.name)), escape(a.about()), flagColumn, width)
		fmt.Fprint(w, entry.String())
		if depth > 1 && len(a.properties) > 0 {
			writeArguments(w, &a, prefix+a.name+".", width, depth-1)
		}
	}
}

// exampleCall returns a command line that calls a tool with its required arguments.
func exampleCall(t *mcphubv1.Tool, schema *argument, source []string) string {
	words := append([]string{"mcphub", "call"}, source...)
	words = append(words, named("--tool", t.GetName())...)
	for _, a := range schema.properties {
		if a.required {
			words = append(words, "-a", a.name+"="+a.example())
		}
	}
	return shellLine(words)
}

// example returns a value that the schema accepts.
func (a *argument) example() string {
	value := ""
	switch {
	case a.def != "":
		value = a.def
	case len(a.enum) > 0:
		value = a.enum[0]
	case len(a.types) == 0:
		return "TEXT"
	default:
		switch a.types[0] {
		case "boolean":
			return "true"
		case "integer", "number":
			return "1"
		case "array":
			if a.items != nil && !a.items.takes("object") {
				return a.items.example()
			}
			return "[]"
		case "object":
			return "{}"
		case "null":
			return "null"
		}
		return "TEXT"
	}
	if text := logText(value); a.takes("string") {
		return text
	}
	return value
}

// shellLine returns a command line that can be pasted.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuoted(word)
	}
	return strings.Join(quoted, " ")
}

// shellQuoted quotes a word so that a POSIX shell reads it unchanged. Characters that control a terminal are escaped:
// they cannot be pasted.
func shellQuoted(word string) string {
	safe := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("-_./:=,@+%", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !safe(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(escapeBut(word, "\n"), "'", `'\''`) + "'"
}

// words returns the part of a command line that describes the same servers. It leaves out the values of headers and
// variables and the query of a URL, since they may be secret.
func (s *sourceFlags) words(server string) []string {
	var words []string
	for _, file := range s.configs {
		words = append(words, "--config", file)
	}
	switch {
	case s.stdio != "":
		words = append(words, "--stdio", s.stdio)
		for _, v := range s.env {
			name, _, _ := strings.Cut(v, "=")
			words = append(words, "--env", name)
		}
	case s.remote.url != "":
		address, _, _ := strings.Cut(s.remote.url, "?")
		words = append(words, "--url", address)
		if s.remote.transport != "" {
			words = append(words, "--transport", s.remote.transport)
		}
		for _, h := range s.remote.headers {
			name, _, _ := strings.Cut(h, ":")
			words = append(words, "--header", showable(name)+": ...")
		}
	}
	for _, f := range [][2]string{{"--folder", s.origins.folder}, {"--scope", s.origins.scope},
		{"--dialect", s.origins.dialect}, {"--era", s.era}} {
		if f[1] != "" {
			words = append(words, f[0], f[1])
		}
	}
	if s.single() == "" {
		words = append(words, named("--server", server)...)
	}
	return words
}

// named returns a name as a word of its own, or after its flag if it would be read as a flag or a file: servers and
// folders choose names, and the command line is meant to be pasted.
func named(flag, name string) []string {
	if strings.HasPrefix(name, "-") || isPath(name) || strings.Contains(name, "://") {
		return []string{flag, name}
	}
	return []string{name}
}
