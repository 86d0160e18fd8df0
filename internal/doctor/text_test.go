package doctor

import (
	"strings"
	"testing"
	"time"
)

func sample() *Report {
	return &Report{Server: "files", Says: "files 1.2", Examined: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
		Took: 1234 * time.Millisecond, Revisions: []string{"2025-11-25"}, Tools: 3, Tokens: 400, Findings: []Finding{
			{Check: "ping", Level: Good, Seen: "a ping was answered", Transport: Stdio, Era: "legacy"},
			{Check: "start.stdout", Level: Mend,
				Seen: "lines on stdout that are no messages: 1, the first: <img src=x> | [x](y) " +
					strings.Repeat("long ", 30), Do: "write logs to stderr", Spec: "2025-11-25 basic/transports", Says: "no",
				Transport: Stdio},
		}}
}

func TestTextForPeople(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteText(&b, 60, false, nil); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"files, which calls itself files 1.2\n", "\nTo mend\n  start.stdout (stdio): lines on",
		"\n    do: write logs to stderr\n", "1 to mend, 0 to improve, 0 notes, 1 as it should be\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "ping") {
		t.Error("what is good is told unasked")
	}
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 60 {
			t.Errorf("wider than 60: %q", line)
		}
	}
	b.Reset()
	if err := sample().WriteText(&b, 60, true, nil); err != nil ||
		!strings.Contains(b.String(), "As it should be\n  ping") {
		t.Errorf("with all: %v\n%s", err, b.String())
	}
}

// Text of a server cannot add markup, pictures or table cells to an issue.
func TestMarkdownIsSafe(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, "<img") || strings.Contains(text, "[x](y)") {
		t.Errorf("markup of the server: %s", text)
	}
	for _, line := range strings.Split(text, "\n") {
		if cells := strings.Count(strings.ReplaceAll(line, "\\|", ""), "|"); strings.HasPrefix(line, "|") && cells != 6 {
			t.Errorf("a row of %d cells: %q", cells-1, line)
		}
	}
	if first := strings.Index(text, "start.stdout"); first > strings.Index(text, "`ping`") {
		t.Error("what must be mended does not come first")
	}
}

// A count of one is written in the singular.
func TestTextCountsOne(t *testing.T) {
	r := sample()
	r.Tools, r.Tokens, r.Calls = 1, 1, 1
	r.Findings = append(r.Findings, Finding{Check: "start.ready", Level: Note, Seen: "ready at once"})
	var b strings.Builder
	if err := r.WriteText(&b, 120, false, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 to mend, 0 to improve, 1 note, 1 as it should be\n",
		"1 tool, about 1 token of definitions", "a tool was called 1 time, to be cancelled"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
}

// Grades go by harm: what makes the API of a model refuse all tools is to be mended, what makes one tool worse to be
// improved.
func TestSchemasAreGradedByHarm(t *testing.T) {
	for schema, want := range map[string]Level{
		`{"type":"object","properties":{}}`: "", `{"type":"object"}`: Mend,
		`{"type":"object","properties":{"a":{"enum":[1,2]}}}`:                  Mend,
		`{"type":"object","properties":{"a":{"type":["string","null"]}}}`:      Note,
		`{"type":"object","properties":{"a":{"type":"array"}}}`:                Mend,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{}}`: Note,
	} {
		got := Level("")
		if found := refused([]byte(schema)); len(found) > 0 {
			got = found[0].level
		}
		if got != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
}
