package process

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// rank says how likely a line is the one that says why a program ended.
type rank int

const (
	none   rank = iota
	hint        // it has a word such as "failed"
	logged      // it is a log record of an error
	system      // a shell or a loader did not find something
	error_      // it begins like the error of a command
	thrown      // the last output of a runtime: an exception, a panic
)

// form returns an expression that is compiled on first use. Compiling all of them would take a fifth of the program's
// start time.
func form(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// frame matches a line of a stack, or of source code that a runtime prints. Its words are those of the program, and not
// a complaint.
var frame = form(`^\s+(at |File "|\^|~|\.\.\. \d+ )|^goroutine \d+|^Node\.js v|^\s+\S+\.go:\d+`)

// kinds are tried in order. The first one that matches a line determines its rank.
var kinds = []struct {
	rank rank
	form func() *regexp.Regexp
}{
	{thrown, form(`^(Uncaught )?(\w+\.)*[A-Z]\w*(Error|Exception|Rejection)( \[\w+\])?: `)},
	{thrown, form(`^(panic|fatal error): |^Exception in thread |^Unhandled exception[.:] `)},
	{error_, form(`(?i)^(error|fatal|fatal error|err)(\[\w+\])?[:!] `)},
	{error_, form(`^[\w./-]{1,64}: ([Ee]rror|fatal)\b|^Error (response from daemon|loading|parsing)`)},
	{system, form(`^\S[^"]*: (command )?not found$|: No such file or directory$|: Permission denied$`)},
	{system, form(`can't open file |[Cc]annot find (module|package)|is not recognized as an internal`)},
	{system, form(`error while loading shared libraries|exec format error|version .GLIBC_`)},
	{logged, form(`(?i)\b(level|severity)"?[=: ]+"?(error|fatal|critical|panic)\b`)},
	{logged, form(`(^|[\s\[|])(ERROR|FATAL|CRITICAL)([\]:|\s]|$)`)},
	{hint, form(`(?i)\b(error|failed|failure|cannot|can't|could not|unable to|missing|required|invalid)\b`)},
	{hint, form(`(?i)\b(denied|refused|not set|not found|must be|unauthorized|expired|unknown option)\b`)},
}

// npm matches the lines of an npm that failed. Those that match bookkeeping have nothing but a number or a path.
var (
	npm         = form(`^npm (ERR!|error) `)
	bookkeeping = form(`^npm (ERR!|error) (code|errno|syscall|path|dest|command|signal|cwd|A complete log|` +
		`Log files|node |npm |Linux|Darwin|Windows)`)
	rustPanic = form(`^thread '.*' (\(\d+\) )?panicked at `)
	// head matches the line above a stack if the program itself has printed an exception after other words.
	head  = form(`^\S.*\b([A-Z]\w*)?(Error|Exception)( \[\w+\])?: `)
	caret = form(`^\s*\^+\s*$`)
)

// rejected begins what Node says, after three sentences of advice, about a promise that was rejected with a value that
// is no error.
const rejected = "The promise rejected with the reason "

// Complaint returns the line that says why a program ended, without colours, or "" if no line looks like it. Of several
// lines of the same rank it is the latest, but the first one of npm, which explains the error in the lines that follow.
func Complaint(lines []string) string {
	best, at := none, ""
	traceback := false  // inside a traceback of Python, which ends with the first line that is not indented
	explaining := false // npm has given its reason
	for i, line := range lines {
		line = plain(line)
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		isNpm := npm().MatchString(text)
		r := none
		switch {
		case strings.HasPrefix(text, "Traceback (most recent call last)"):
			traceback = true
		case traceback && line[0] != ' ' && line[0] != '\t':
			traceback, r = false, thrown
		case traceback:
		case rustPanic().MatchString(text):
			r = thrown
			if strings.HasSuffix(text, ":") && i+1 < len(lines) { // the message is on the next line
				text = strings.TrimSpace(plain(lines[i+1]))
			}
		case isNpm && !explaining && !bookkeeping().MatchString(text):
			r, explaining = error_, true
		case isNpm:
		case i > 0 && caret().MatchString(plain(lines[i-1])): // as Node shows a thrown text; an error has a blank line above
			r = thrown
		case head().MatchString(line) && slices.ContainsFunc(lines[i+1:min(len(lines), i+4)], isFrame):
			r = thrown
		default:
			r = rankOf(line)
			if at := strings.Index(text, rejected); r == thrown && at >= 0 {
				text = text[at:]
			}
		}
		explaining = explaining && isNpm
		if r != none && r >= best && text != "" {
			best, at = r, text
		}
	}
	return at
}

// isFrame reports whether a line belongs to a stack, or to what runtimes print around one.
func isFrame(line string) bool { return frame().MatchString(plain(line)) }

func rankOf(line string) rank {
	if isFrame(line) {
		return none
	}
	indented := line[0] == ' ' || line[0] == '\t'
	for _, k := range kinds {
		if indented && k.rank > logged { // a source line of a stack, an option in a usage text, or a cause
			continue
		}
		if k.form().MatchString(line) {
			return k.rank
		}
	}
	return none
}

var colours = form(`\x1b\[[0-9;:]*[A-Za-z]`)

// judged is how much of a line is examined, in bytes.
const judged = 2 << 10

// plain returns the beginning of a line without colours.
func plain(line string) string {
	line = line[:min(len(line), judged)]
	if !strings.Contains(line, "\x1b") {
		return line
	}
	return colours().ReplaceAllString(line, "")
}

// The beginnings of the two parts of a quotation.
const (
	said = "it says on stderr: "
	last = "last lines on stderr: "
)

// QuoteStderr returns what an error says about a program's stderr: first the line of [Complaint], then the latest
// lines, at most most lines and room bytes. Each line is printable and bounded, no line is repeated, and the frames of
// a stack are left out. It returns "" if there is nothing to say.
func QuoteStderr(stderr []string, most, room int) string {
	line := Complaint(stderr)
	var parts, rest []string
	if line != "" {
		parts = append(parts, said+bounds.Printable(line))
	}
	// The order is from the end, since a server that was started again repeats its lines.
	latest := withoutStacks(stderr)
	for i := len(latest) - 1; i >= 0 && len(rest) < most; i-- {
		text := bounds.Printable(latest[i])
		told := strings.TrimSpace(plain(latest[i]))
		again := told == line || strings.HasPrefix(line, rejected) && strings.HasSuffix(told, line)
		if again || slices.Contains(rest, text) {
			continue
		}
		if room -= len(text); room < 0 {
			break
		}
		rest = append(rest, text)
	}
	if slices.Reverse(rest); len(rest) > 0 {
		parts = append(parts, last+strings.Join(rest, " | "))
	}
	return strings.Join(parts, "; ")
}

var (
	goroutine = form(`^goroutine \d+ `)
	// nodeItself matches the place at which Node begins to show a line of its own source, which ends with a blank line.
	nodeItself = form(`^node:internal/\S+:\d+$`)
)

// withoutStacks removes the stacks that runtimes print, and what belongs to them: the fields of Node's error, its own
// source, the goroutines of Go. The lines that say what was wrong stay.
func withoutStacks(lines []string) []string {
	var kept []string
	until := func(string) bool { return true } // reports whether a line is no part of the removed block any more
	for _, raw := range lines {
		line := plain(raw)
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		text := strings.TrimSpace(line)
		if over := until; !over(line) {
			continue
		}
		until = func(string) bool { return true }
		switch {
		case text == "}" || text == "": // the end of a block
		case strings.HasPrefix(text, "Traceback (most recent call last)"):
			until = func(line string) bool { return line != "" && line[0] != ' ' && line[0] != '\t' }
		case nodeItself().MatchString(text), goroutine().MatchString(text):
			until = func(line string) bool { return strings.TrimSpace(line) == "" }
		case isFrame(line) && indented && strings.HasSuffix(text, "{"): // "    at f (x.js:1:2) {"
			until = func(line string) bool { return line != "" && line[0] != ' ' && line[0] != '\t' }
		case isFrame(line):
		default:
			kept = append(kept, raw)
		}
	}
	return kept
}

// WithoutStderr returns text without what QuoteStderr has added at its end. It is for reports that must not have a
// program's words.
func WithoutStderr(text string) string {
	for _, mark := range []string{said, last} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimRight(text, "; ")
}
