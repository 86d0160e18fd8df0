package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

const (
	methodListTools = "tools/list"

	// maxPages bounds a list whose server always has one more page.
	maxPages = 1000
)

// Tool is one tool as the server defines it. All of it is untrusted, the hints above all.
type Tool struct {
	Name        string
	Title       string // title, else annotations.title; "" when there is none
	Description string
	InputSchema json.RawMessage
	Raw         json.RawMessage // the whole definition exactly as it came
	// Hash is over name, description, inputSchema, outputSchema and annotations, whatever their spelling as JSON:
	// SHA-256 in hexadecimal. An approval is bound to it.
	Hash string
	// The hints, with the defaults of server/tools where they are absent: the worst is assumed.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// ListTools fetches all pages. A server that declared no tools is not asked. An entry that is no tool is left out and hides no other.
// Errors: as CallTool; a *ProtocolError for a repeated cursor and for more than 1000 pages.
func (s *Session) ListTools(ctx context.Context) ([]Tool, error) {
	if !s.Info().HasTools {
		return nil, nil
	}
	var tools []Tool
	params := s.plainParams()
	seen := map[string]bool{}
	for range maxPages {
		raw, err := s.peer.Call(ctx, methodListTools, params)
		if err != nil {
			return nil, err
		}
		page, cursor, err := s.readPage(raw)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page...)
		if cursor == nil {
			return tools, nil
		}
		// A cursor is opaque, and "" is one too (2026-07-28 server/utilities/pagination).
		text := stringOf(cursor)
		if seen[text] {
			return nil, &ProtocolError{Text: "the server repeats a cursor of tools/list"}
		}
		seen[text] = true
		params = s.plainParams("cursor", string(cursor))
	}
	return nil, &ProtocolError{Text: fmt.Sprintf("tools/list has more than %d pages", maxPages)}
}

func (s *Session) readPage(raw json.RawMessage) (tools []Tool, cursor json.RawMessage, err error) {
	var page struct {
		ResultType *string           `json:"resultType"`
		Tools      []json.RawMessage `json:"tools"`
		NextCursor json.RawMessage   `json:"nextCursor"`
	}
	if json.Unmarshal(raw, &page) != nil {
		return nil, nil, &ProtocolError{Text: "the answer to tools/list is malformed"}
	}
	if s.Era() == Modern && page.ResultType != nil && *page.ResultType != "complete" {
		return nil, nil, &ProtocolError{Text: fmt.Sprintf("the server answered tools/list with the resultType %q", printable(*page.ResultType))}
	}
	for _, entry := range page.Tools {
		tool, err := s.readAdmitted(entry)
		if err != nil {
			s.log.Warn("a tool definition is left out", "error", err)
			continue
		}
		tools = append(tools, tool)
	}
	if page.NextCursor == nil || isNull(page.NextCursor) {
		return tools, nil, nil
	}
	if page.NextCursor[0] != '"' {
		return nil, nil, &ProtocolError{Text: "the nextCursor of tools/list is no string"}
	}
	return tools, page.NextCursor, nil
}

func readTool(raw json.RawMessage) (Tool, error) {
	t := Tool{Raw: raw, Destructive: true, OpenWorld: true}
	var annotations, output json.RawMessage
	object := eachMember(raw, func(name []byte, v json.RawMessage) bool {
		switch string(name) {
		case "name":
			t.Name = stringOf(v)
		case "title":
			t.Title = stringOf(v)
		case "description":
			t.Description = stringOf(v)
		case "inputSchema":
			t.InputSchema = v
		case "outputSchema":
			output = v
		case "annotations":
			annotations = v
		}
		return true
	})
	if !object || t.Name == "" {
		return Tool{}, fmt.Errorf("it has no name")
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
	hash := sha256.New()
	for _, part := range []json.RawMessage{appendString(nil, t.Name), appendString(nil, t.Description), t.InputSchema, output, annotations} {
		hash.Write(canonical(part))
		hash.Write([]byte{'\n'}) // no canonical JSON holds a line end, so the parts cannot run into each other
	}
	t.Hash = hex.EncodeToString(hash.Sum(nil))
	return t, nil
}

// canonical is one spelling for each JSON value: no blanks, members in order, strings escaped alike. Numbers keep their spelling. An absent part is empty.
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
