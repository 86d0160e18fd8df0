package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

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
