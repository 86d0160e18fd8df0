package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Tool is one tool as the server defines it. All of it is untrusted, in particular the hints.
type Tool struct {
	Name        string
	Title       string // title, or annotations.title; "" if there is none
	Description string
	InputSchema json.RawMessage
	// OutputSchema is what structuredContent must conform to, or nil if the tool has none: see Session.CheckOutput.
	OutputSchema json.RawMessage
	// TaskSupport is execution.taskSupport of 2025-11-25: "forbidden", "optional", "required", or "" if it is absent.
	TaskSupport string
	Raw         json.RawMessage // the whole definition exactly as it came
	// Hash is the SHA-256 in hexadecimal over name, title, description, inputSchema, outputSchema and annotations. It does
	// not depend on their notation in JSON. An approval is bound to it.
	Hash string
	// The hints, with the defaults of server/tools if they are absent: these assume the worst.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	UI                                           ToolUI
}

// ListTools fetches all pages; pages that are cached and fresh come from the cache (2026-07-28). A server that declared
// no tools is not asked. An entry that is no valid tool is left out, and the others are returned. Errors: as CallTool;
// a *ProtocolError for a repeated cursor and for more than 1000 pages.
func (s *Session) ListTools(ctx context.Context) ([]Tool, error) {
	if !s.Info().HasTools {
		return nil, nil
	}
	return listAll(ctx, s, listing[Tool]{method: protocol.MethodListTools, member: "tools", about: aboutTools,
		read: s.readAdmitted})
}

// ReadTool parses a definition from tools/list, such as the Raw of an earlier Tool.
func ReadTool(raw json.RawMessage) (Tool, error) { return readTool(raw) }

func readTool(raw json.RawMessage) (Tool, error) {
	t := Tool{Raw: raw, Destructive: true, OpenWorld: true}
	var title, annotations json.RawMessage
	object := eachMember(raw, func(name []byte, v json.RawMessage) bool {
		switch string(name) {
		case "name":
			t.Name = stringOf(v)
		case "title":
			t.Title, title = stringOf(v), v
		case "description":
			t.Description = stringOf(v)
		case "inputSchema":
			t.InputSchema = v
		case "outputSchema":
			t.OutputSchema = v
		case "execution":
			t.TaskSupport = stringOf(member(v, "taskSupport"))
		case "annotations":
			annotations = v
		case "_meta":
			t.UI = readToolUI(v)
		}
		return true
	})
	if err := badName(object, t.Name); err != nil {
		return Tool{}, err
	}
	if err := ambiguous(raw); err != nil { // a user approves the tool by what is shown
		return Tool{}, err
	}
	eachMember(annotations, func(name []byte, v json.RawMessage) bool {
		flag := string(v) == "true"
		if !flag && string(v) != "false" {
			if string(name) == "title" && t.Title == "" {
				t.Title = stringOf(v)
			}
			return true
		}
		switch string(name) {
		case "readOnlyHint":
			t.ReadOnly = flag
		case "destructiveHint":
			t.Destructive = flag
		case "idempotentHint":
			t.Idempotent = flag
		case "openWorldHint":
			t.OpenWorld = flag
		}
		return true
	})
	parts := []json.RawMessage{jsontext.AppendString(nil, t.Name), jsontext.AppendString(nil, t.Description),
		t.InputSchema, t.OutputSchema,
		annotations}
	if title != nil { // so that the hash of a tool without a title stays what it was before titles counted
		parts = append(parts, title)
	}
	hash := sha256.New()
	for _, part := range parts {
		hash.Write(canonical(part))
		hash.Write([]byte{'\n'}) // canonical JSON has no line break, so the parts stay separate
	}
	t.Hash = hex.EncodeToString(hash.Sum(nil))
	return t, nil
}

// canonical returns the same text for all notations of a JSON value: no white space, members sorted, strings escaped in
// one way. Numbers keep their notation. An absent part is empty.
func canonical(raw json.RawMessage) []byte {
	if raw == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}
