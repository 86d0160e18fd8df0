package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Escape makes text of a server harmless on a terminal. It replaces by Go escapes: control characters, which could move
// the cursor or change the colour of earlier text; direction marks, which could reverse text; and invisible characters,
// which could make two texts look the same. The result is one line.
func Escape(s string) string { return EscapeBut(s, "") }

// EscapeBut is escape, except that it keeps the characters of keep.
func EscapeBut(s, keep string) string {
	if strings.IndexFunc(s, func(r rune) bool { return hostile(r, keep) || joiner(r) }) < 0 && utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	var b strings.Builder
	var before rune
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if hostile(r, keep) || joiner(r) && !(mayJoin(before) && mayJoin(after)) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func hostile(r rune, keep string) bool {
	return (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unseen(r) && !joiner(r)) &&
		!strings.ContainsRune(keep, r)
}

// unseen reports whether r is a character that takes no room or is invisible: a format character, a line or paragraph
// separator, or a letter that fonts draw as nothing.
func unseen(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x034f, 0x17b4, 0x17b5:
		// Hangul fillers, the empty Braille cell, grapheme joiner, Khmer vowels
		return true
	}
	// variation selectors supplement
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || 0xe0100 <= r && r <= 0xe01ef
}

// joiner reports whether r is one of the two characters that join or separate letters of Persian and Indian scripts,
// and combine emojis. They are kept between such characters.
func joiner(r rune) bool { return r == 0x200c || r == 0x200d }

func mayJoin(r rune) bool {
	return r > unicode.MaxASCII && (unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) || unicode.IsMark(r) ||
		unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r))
}

// maxName is how many characters of a name are shown. MCP allows as many for the name of a tool (2025-11-25
// server/tools, "Tool Names").
const maxName = 128

// ShortName returns the name of a tool or a server for people. Of a name that is too long it returns the beginning and
// the length; the full name can be seen elsewhere.
func ShortName(name string) string {
	if len(name) <= maxName {
		return name
	}
	n := utf8.RuneCountInString(name)
	if n <= maxName {
		return name
	}
	return string([]rune(name)[:maxName/2]) + "… (" + strconv.Itoa(n) + " characters)"
}

// Cut shortens s to at most n runes, with an ellipsis if it cuts something.
func Cut(s string, n int) string {
	if n <= 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// FirstLine returns the first line of s that is not blank.
func FirstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// About returns the title and the first line of the description.
func About(title, description string) string {
	about := FirstLine(description)
	switch {
	case title == "":
		return OrDash(about)
	case about == "":
		return title
	default:
		return title + ": " + about
	}
}

// Plural returns a number of things in words.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Place returns a place in a file in words, a dash if there is none.
func Place(file string, line int32) string {
	if file == "" {
		return "-"
	}
	if line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(int(line))
}

// Word returns the word for an enum value: for SERVER_STATE_READY it is ready.
func Word(value fmt.Stringer, prefix string) string {
	s := strings.TrimPrefix(value.String(), prefix)
	if s == "UNSPECIFIED" {
		return "-"
	}
	return strings.ReplaceAll(strings.ToLower(s), "_", " ")
}

// OrDash returns s, or a dash if s is empty: an empty cell would look like a mistake.
func OrDash(s string) string { return cmp.Or(s, "-") }

// Lines returns a line that is escaped.
func Lines(format string, args ...any) []string {
	return []string{Escape(fmt.Sprintf(format, args...))}
}

// Duration returns a duration in words, rounded to what is of interest.
func Duration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// JSONText returns the text of log data: the value of a JSON string, any other data as it is.
func JSONText(dataJSON string) string {
	if jsontext.IsString([]byte(dataJSON)) {
		return jsontext.String([]byte(dataJSON))
	}
	return dataJSON
}

// ShellLine returns a command line that can be pasted.
func ShellLine(words []string) string {
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
	return "'" + strings.ReplaceAll(EscapeBut(word, "\n"), "'", `'\''`) + "'"
}

// JSONLine returns the proto3 JSON of m on one line. protojson deliberately varies white space from build to build,
// which would break scripts that compare lines.
func JSONLine(m proto.Message) []byte {
	text, err := protojson.Marshal(m)
	if err != nil {
		// This happens only if a string field is not UTF-8, and gRPC has refused such a message before.
		panic("mcphub: proto3 JSON of " + string(m.ProtoReflect().Descriptor().FullName()) + ": " + err.Error())
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		panic("mcphub: proto3 JSON is no JSON: " + err.Error())
	}
	return visible(line.Bytes())
}

// visible replaces characters that control a terminal or are invisible by JSON escapes, since people may look at a line
// that is meant for programs. To a program the JSON is the same. (Control characters below U+0020 have to be escaped in
// any JSON.)
func visible(line []byte) []byte {
	risky := func(r rune) bool { return r > unicode.MaxASCII && (hostile(r, "") || joiner(r)) || r == 0x7f }
	if bytes.IndexFunc(line, risky) < 0 {
		return line
	}
	out := make([]byte, 0, len(line)+64)
	for _, r := range string(line) {
		if !risky(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, half := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, half)
		}
	}
	return out
}

// JSONOf returns the JSON of a value that always has one.
func JSONOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// PrintJSON prints a message as proto3 JSON on one line.
func PrintJSON(w *Output, m proto.Message) { fmt.Fprintf(w, "%s\n", JSONLine(m)) }

// PrintObject prints an object with one member.
func PrintObject(w *Output, name string, value any) { PrintValue(w, map[string]any{name: value}) }

// PrintValue prints a value as JSON on one line. Only a bug can make it impossible to encode.
func PrintValue(w *Output, value any) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "%s", visible(line.Bytes()))
}
