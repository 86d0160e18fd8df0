package process

import (
	"fmt"
	"io/fs"
	"strings"
)

// batchLine returns the command line that the standard library of Rust makes since 1.77.2 (make_bat_command_line).
// Extensions are on; delayed expansion (!x!) and AutoRun are off. Each argument is in quotes unless it is harmless.
// Quotes are doubled, which both cmd.exe and the C runtime of the program behind the batch file read as one. No % is
// followed by the name of a variable, since %cd:~,% takes the place of each: an empty part of a variable that is always
// there. An argument that no quoting can protect is refused.
func batchLine(path string, args []string) (string, *StartError) {
	if strings.ContainsAny(path, "\"%\r\n\x00") || strings.HasSuffix(path, `\`) {
		return "", &StartError{Setting: "command", Err: fs.ErrInvalid,
			Message: fmt.Sprintf("%q is a batch file, and a path with %% or quotes cannot be given to cmd.exe; move it", path)}
	}
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /c ""` + path + `"`)
	for i, arg := range args {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", &StartError{Setting: "args", Err: fs.ErrInvalid, Message: fmt.Sprintf(
				`%q is a batch file, and argument %d has a line break or zero byte, which cannot be given to one; change "args"`,
				path, i+1)}
		}
		b.WriteByte(' ')
		appendBatchArg(&b, arg)
	}
	b.WriteByte('"')
	return b.String(), nil
}

// appendBatchArg writes an argument, in quotes unless it consists of harmless ASCII. Some other characters separate
// words for cmd.exe, as the no-break space does in many code pages.
func appendBatchArg(b *strings.Builder, arg string) {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune(`#$*+-./:?@\_`, r)
	}
	quoted := arg == "" || strings.HasSuffix(arg, `\`) || strings.ContainsFunc(arg, func(r rune) bool {
		return !harmless(r)
	})
	if quoted {
		b.WriteByte('"')
	}
	backslashes := 0 // the number directly before arg[i]; before a quote they are doubled
	for i := range len(arg) {
		switch arg[i] {
		case '\\':
			backslashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
			backslashes = 0
		case '%':
			b.WriteString("%%cd:~,")
			backslashes = 0
		default:
			backslashes = 0
		}
		b.WriteByte(arg[i])
	}
	if quoted {
		b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
	}
}
