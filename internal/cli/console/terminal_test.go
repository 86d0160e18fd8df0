package console

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// screenOf returns what a terminal shows of a text, line by line. The text may hold only \n and the clearing of a line.
func screenOf(t *testing.T, text string) []string {
	t.Helper()
	lines := []string{""}
	for text != "" {
		last := len(lines) - 1
		switch {
		case strings.HasPrefix(text, ClearLine):
			lines[last], text = "", text[len(ClearLine):]
		case text[0] == '\n':
			lines, text = append(lines, ""), text[1:]
		case text[0] == '\r' || text[0] == '\x1b':
			t.Fatalf("something else than the clearing of a line: %q", text)
		default:
			lines[last], text = lines[last]+text[:1], text[1:]
		}
	}
	return lines
}

// TestLinesStandAboveAQuestion: what is written while a question waits for an answer stands above it, by whichever way
// it comes, and the question is drawn anew; progress waits.
func TestLinesStandAboveAQuestion(t *testing.T) {
	for _, clears := range []bool{true, false} {
		var out strings.Builder
		screen := &Screen{w: &out, clears: clears}
		live := &LiveLine{w: screen, width: func() int { return 60 }}
		s := Streams{Err: live}
		live.ShowProgress(&mcphubv1.Progress{Progress: 1})
		s.Question("Allow this call? [y/N] ")
		s.Say("stderr: a line")
		screen.Write([]byte("level=INFO of the hub\n"))
		live.ShowProgress(&mcphubv1.Progress{Progress: 2})
		want := []string{"stderr: a line", "level=INFO of the hub", "Allow this call? [y/N] "}
		if !clears {
			want = []string{"Allow this call? [y/N] ", "stderr: a line", "Allow this call? [y/N] ", "level=INFO of the hub",
				"Allow this call? [y/N] "}
		}
		if diff := cmp.Diff(want, screenOf(t, out.String())); diff != "" {
			t.Errorf("clears %v (-want +got):\n%s", clears, diff)
		}
		s.Answered()
		out.Reset()
		s.Say("after")
		live.ShowProgress(&mcphubv1.Progress{Progress: 3})
		if diff := cmp.Diff([]string{"after", "  3"}, screenOf(t, out.String())); diff != "" {
			t.Errorf("clears %v, after (-want +got):\n%s", clears, diff)
		}
	}
}

// TestLiveLine: progress stays on one line, which is cleared for other output, is never wrapped, and never overwrites a
// question.
func TestLiveLine(t *testing.T) {
	var out strings.Builder
	l := &LiveLine{w: &out, width: func() int { return 60 }}
	total := 4.0
	for i := range 4 {
		l.ShowProgress(&mcphubv1.Progress{Progress: float64(i), Total: &total, Message: "working"})
	}
	if got := screenOf(t, out.String()); len(got) != 1 || got[0] != "  [===============     ] 3 of 4  working" {
		t.Errorf("the screen shows %q", got)
	}
	l.Write([]byte("a line that stays\n"))
	l.ShowProgress(&mcphubv1.Progress{Progress: 9, Message: "\x1b[2J\n" + strings.Repeat("界", 100)})
	got := screenOf(t, out.String())
	if len(got) != 2 || got[0] != "a line that stays" || ColumnsOf(got[1]) > 59 ||
		!strings.Contains(got[1], `\x1b[2J\n`) || !strings.HasSuffix(got[1], "…") {
		t.Errorf("the screen shows %q", got)
	}
	l.Write([]byte("Allow this call? [y/N] "))
	l.ShowProgress(&mcphubv1.Progress{Progress: 10})
	if got := screenOf(t, out.String()); got[1] != "Allow this call? [y/N] " {
		t.Errorf("the question is written over: %q", got)
	}
	l.Write([]byte("\n"))
	l.ShowProgress(&mcphubv1.Progress{Progress: 11})
	l.Clear()
	l.Clear()
	if got := screenOf(t, out.String()); got[len(got)-1] != "" {
		t.Errorf("the line is not cleared: %q", got)
	}
	out.Reset()
	l.width = func() int { return 5 } // too narrow for anything
	l.ShowProgress(&mcphubv1.Progress{Progress: 12})
	if out.String() != "" {
		t.Errorf("on five columns: %q", out.String())
	}
	var none *LiveLine
	none.Clear()
	if Paint(&out, Red, "x") != "x" || Paint(l, Red, "x") != "x" {
		t.Error("colour where there is none")
	}
}
