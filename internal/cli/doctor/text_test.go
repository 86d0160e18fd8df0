package doctor

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

func textOf(r *doctor.Report, all bool) string {
	var b strings.Builder
	writeText(&b, r, all)
	return b.String()
}

func TestTextForPeople(t *testing.T) {
	r := &doctor.Report{Server: "files", Says: "files 1.2", Findings: []doctor.Finding{
		{Check: "ping", Level: doctor.Good, Seen: "a ping was answered", Transport: doctor.Stdio, Era: "legacy"},
		{Check: "start.stdout", Level: doctor.Mend, Seen: "lines on stdout that are no messages: 1, the first: " +
			strings.Repeat("long ", 30), Do: "write logs to stderr", Spec: "2025-11-25 basic/transports", Says: "no",
			Transport: doctor.Stdio},
	}}
	text := textOf(r, false)
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
		if len(line) > console.PipeWidth {
			t.Errorf("too wide: %q", line)
		}
	}
	if text := textOf(r, true); !strings.Contains(text, "As it should be\n  ping") {
		t.Errorf("with all:\n%s", text)
	}
}

// A count of one is written in the singular.
func TestTextCountsOne(t *testing.T) {
	text := textOf(&doctor.Report{Tools: 1, Tokens: 1, Calls: 1, Findings: []doctor.Finding{
		{Check: "start.ready", Level: doctor.Note, Seen: "ready at once"}}}, false)
	for _, want := range []string{"0 to mend, 0 to improve, 1 note, 0 as it should be\n",
		"1 tool, about 1 token of definitions", "a tool was called 1 time, to be cancelled"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}
