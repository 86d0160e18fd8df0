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
