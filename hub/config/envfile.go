package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// maxFile bounds the size of a file that a reference or an envFile names, in bytes.
const maxFile = 1 << 20

var (
	errNotRegular = errors.New("is not a regular file")
	errTooLarge   = fmt.Errorf("is larger than %d bytes", maxFile)
)

// readFile is like os.ReadFile, for files that a config names: the size is bounded, and only regular files are read.
func readFile(name string) ([]byte, error) { return readRegular(name, maxFile+1) }

// why returns the text of an error of reading a file without the path, which the message has already. A missing file
// has the same text on all systems.
func why(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file or directory"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// envVar is one line of an envFile.
type envVar struct{ name, value string }

// parseEnvFile parses NAME=value lines as in dotenv files: comments, "export ", single, double and back quotes, which
// may span several lines; \n, \r, \t, \" and \\ within double quotes. Nothing is expanded. No library is used for this,
// because all that are maintained replace $NAME. If two lines have one name, the later one counts.
//
// bad are the numbers of the lines that have another form; they are skipped.
func parseEnvFile(data []byte) (vars []envVar, bad []int) {
	text := strings.TrimPrefix(string(data), "\xEF\xBB\xBF")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	at := map[string]int{}
	for line := 1; text != ""; {
		first, rest, _ := strings.Cut(text, "\n")
		used := 1
		if trimmed := strings.TrimSpace(first); trimmed != "" && trimmed[0] != '#' {
			name, _, ok := strings.Cut(first, "=")
			value := text[min(len(name)+1, len(text)):]
			name = strings.TrimSpace(name)
			if after, found := strings.CutPrefix(name, "export"); found && strings.TrimLeft(after, " \t") != after {
				name = strings.TrimSpace(after)
			}
			if ok = ok && isEnvName(name); ok {
				value, rest, used, ok = envValue(value)
			}
			if !ok {
				_, rest, _ = strings.Cut(text, "\n")
				used = 1
				bad = append(bad, line)
			} else if i, double := at[name]; double {
				vars[i].value = value
			} else {
				at[name] = len(vars)
				vars = append(vars, envVar{name, value})
			}
		}
		text = rest
		line += used
	}
	return vars, bad
}

// isEnvName reports whether s is a name that dotenv readers accept. They accept more than a shell.
func isEnvName(s string) bool {
	for i := range len(s) {
		c := s[i]
		digit := '0' <= c && c <= '9' || c == '.' || c == '-'
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || digit && i > 0) {
			return false
		}
	}
	return s != ""
}

// envValue parses a value at the start of text, up to the end of its last line, and counts the lines.
func envValue(text string) (value, rest string, lines int, ok bool) {
	text = strings.TrimLeft(text, " \t")
	if text == "" || strings.IndexByte("\"'`", text[0]) < 0 {
		value, rest, _ = strings.Cut(text, "\n")
		// A comment begins after a blank, so a # within a token is part of the token.
		for i := range len(value) {
			if value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
				value = value[:i]
				break
			}
		}
		return strings.TrimSpace(value), rest, 1, true
	}
	quote := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			after, rest, _ := strings.Cut(text[i+1:], "\n")
			after = strings.TrimSpace(after)
			return b.String(), rest, 1 + strings.Count(text[:i], "\n"), after == "" || after[0] == '#'
		case c == '\\' && quote == '"' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			case '"', '\\':
				b.WriteByte(text[i])
			default:
				b.WriteByte('\\')
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", 0, false // the quote is not closed
}
