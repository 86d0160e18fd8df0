package main

import (
	"bytes"
	"encoding/json"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// jsonLine gives the proto3 JSON of m on one line. protojson varies its blanks on purpose, from build to build; a script that
// compares lines should not see that.
func jsonLine(m proto.Message) []byte {
	text, err := protojson.Marshal(m)
	if err != nil {
		// A string field that is no UTF-8 is the one way to get here, and gRPC has refused that message already.
		panic("mcphub: proto3 JSON of " + string(m.ProtoReflect().Descriptor().FullName()) + ": " + err.Error())
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		panic("mcphub: proto3 JSON is no JSON: " + err.Error())
	}
	return line.Bytes()
}

func printJSON(w io.Writer, m proto.Message) error {
	_, err := w.Write(append(jsonLine(m), '\n'))
	return err
}

// printErrorLine prints the last line of a command that failed under --json.
func printErrorLine(w io.Writer, f *failure) error {
	return printObject(w, "error", f)
}

func printObject(w io.Writer, name string, value any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{name: value}); err != nil {
		return err
	}
	_, err := w.Write(line.Bytes())
	return err
}
