package complaint

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rank says how surely a line is the one that says why a program ended.
type rank int

const (
	none   rank = iota
	hint        // it has a word of trouble
	logged      // a log says that it is an error
	system      // a shell or a loader did not find something
	error_      // it begins as the error of a command does
	thrown      // a runtime's last word: an exception, a panic
)

// form is an expression that is compiled when it is first needed: together they would be a fifth of the time in which
// the program starts.
func form(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// frame is a line of a stack or of source that a runtime prints; its words are the program's, not a complaint.
var frame = form(`^\s+(at |File "|\^|~|\.\.\. \d+ )|^goroutine \d+|^Node\.js v|^\s+\S+\.go:\d+`)

// kinds are tried in their order: the first that matches gives a line its rank.
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

// npm begins each line of an npm that failed; the bookkeeping says no more than a number or a path.
var (
	npm         = form(`^npm (ERR!|error) `)
	bookkeeping = form(`^npm (ERR!|error) (code|errno|syscall|path|dest|command|signal|cwd|A complete log|` +
		`Log files|node |npm |Linux|Darwin|Windows)`)
	rustPanic = form(`^thread '.*' (\(\d+\) )?panicked at `)
	// head is what stands above a stack where the program has written its exception itself, behind words of its own.
	head  = form(`^\S.*\b([A-Z]\w*)?(Error|Exception)( \[\w+\])?: `)
	caret = form(`^\s*\^+\s*$`)
)

// rejected begins what Node says, after three sentences of advice, of a promise that was rejected with no error.
const rejected = "The promise rejected with the reason "

// Line is the line that matters, without colours; "" when none looks like it. Where several do equally, the latest
// counts, but the first of npm's lines, which goes on to explain itself.
func Line(lines []string) string {
	best, at := none, ""
	traceback := false  // in one of Python, whose end is the first line that is not indented
	explaining := false // npm has said it
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
		case i > 0 && caret().MatchString(plain(lines[i-1])): // Node shows a thrown text so; an error has a blank line above
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

// isFrame tells whether a line is of a stack, or of what runtimes print around one.
func isFrame(line string) bool { return frame().MatchString(plain(line)) }

func rankOf(line string) rank {
	if isFrame(line) {
		return none
	}
	indented := line[0] == ' ' || line[0] == '\t'
	for _, k := range kinds {
		if indented && k.rank > logged { // a source line of a stack, an option of a usage, a cause
			continue
		}
		if k.form().MatchString(line) {
			return k.rank
		}
	}
	return none
}

var colours = form(`\x1b\[[0-9;:]*[A-Za-z]`)

// judged is how much of a line is looked at.
const judged = 2 << 10

// plain is a line without the colours that programs write.
func plain(line string) string {
	line = line[:min(len(line), judged)]
	if !strings.Contains(line, "\x1b") {
		return line
	}
	return colours().ReplaceAllString(line, "")
}
