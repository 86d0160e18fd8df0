package config

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
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
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
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
		if m := envEntry.FindStringSubmatch(text); m != nil {
			rest, used = text[len(m[0]):], strings.Count(m[0], "\n")
			// A comment begins after a blank, so a # within a token is part of the token.
			plain := m[5]
			if comment := envComment.FindStringIndex(plain); comment != nil {
				plain = plain[:comment[0]]
			}
			value := envEscapes.Replace(m[2]) + m[3] + m[4] + strings.TrimSpace(plain)
			if i, double := at[m[1]]; double {
				vars[i].value = value
			} else {
				at[m[1]] = len(vars)
				vars = append(vars, envVar{m[1], value})
			}
		} else if trimmed := strings.TrimSpace(first); trimmed != "" && trimmed[0] != '#' {
			bad = append(bad, line)
		}
		text = rest
		line += used
	}
	return vars, bad
}

// envEntry matches an entry up to the end of its last line. Its groups are the name, and the value between double,
// single and back quotes, and without any. Names are those that dotenv readers accept, which are more than those of a
// shell.
var (
	envEntry = regexp.MustCompile(`\A[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*` +
		`(?:(?:"((?:[^"\\]|\\(?s:.))*)"|'([^']*)'|` + "`([^`]*)`" + `)[ \t]*(?:#[^\n]*)?` +
		`|([^ \t\n"'` + "`" + `][^\n]*)?)(?:\n|\z)`)
	envComment = regexp.MustCompile(`(?:^|[ \t])#`)
	envEscapes = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`)
)
