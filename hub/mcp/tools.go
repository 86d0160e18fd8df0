package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/schema"
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
func ReadTool(raw json.RawMessage) (Tool, error) {
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

// ToolUI describes the view of a tool (MCP Apps 2026-01-26, "Resource Discovery": _meta.ui).
type ToolUI struct {
	Resource                         string // ui:// URI of the resource that shows its calls, "" for none
	HiddenFromModels, HiddenFromApps bool   // visibility: both may call a tool that has none
}

// readToolUI parses _meta of a tool. The flat key is the older spelling; the nested one takes precedence.
func readToolUI(meta json.RawMessage) (ui ToolUI) {
	nested := jsontext.Get(meta, protocol.MetaUI)
	uri := jsontext.String(jsontext.Get(nested, "resourceUri"))
	if uri == "" {
		uri = jsontext.String(jsontext.Get(meta, protocol.MetaUIResource))
	}
	if strings.HasPrefix(uri, "ui://") && len(uri) <= bounds.AppURIBytes {
		ui.Resource = uri
	}
	forModels, forApps := false, false
	if jsontext.Elements(jsontext.Get(nested, "visibility"), func(who json.RawMessage) bool {
		switch jsontext.String(who) {
		case "model":
			forModels = true
		case "app":
			forApps = true
		}
		return true
	}) {
		ui.HiddenFromModels, ui.HiddenFromApps = !forModels, !forApps
	}
	return ui
}

// NotChecked is the prefix of an entry of CheckOutput that is no violation: the result could not be checked, and the
// rest of the text says why.
const NotChecked = "not checked: "

const absentStructure = "structuredContent is absent, although the tool has an outputSchema"

// OutputChecker returns a checker for the results of a server's tools. It may outlive a session: it keeps only data
// about schemas.
func OutputChecker(account *bounds.Account) *schema.Checker {
	return &schema.Checker{Schema: "outputSchema", Value: "structuredContent", Account: account}
}

// CheckOutput compares the structuredContent of a tool's result with the tool's outputSchema. It returns the violations
// as bounded texts for people, to be shown beside the result and never instead of it; they may quote the result and
// must not be logged. It returns nil if the result conforms, if the tool has no schema, or if the result reports an
// error of the tool, which need not conform (server/tools, "Output Schema", since 2025-06-18).
//
// Up to 2025-11-25 structuredContent is an object; 2026-07-28 allows any value, including null, which differs from an
// absent one. If the result was not checked (see [schema.Checker]), the only entry begins with NotChecked.
//
// It takes about a second at most. It is safe for concurrent use, also after the session has ended.
func (s *Session) CheckOutput(outputSchema, result json.RawMessage) []string {
	if outputSchema == nil || isNull(outputSchema) || string(member(result, "isError")) == "true" {
		return nil
	}
	content := member(result, "structuredContent")
	switch {
	case content == nil:
		return []string{absentStructure}
	case s.Era() != Modern && content[0] != '{':
		return []string{"structuredContent is no JSON object, as it must be in revision " + s.Revision()}
	}
	switch v := s.outputs.Check(outputSchema, content); {
	case v.NotChecked != "":
		return []string{NotChecked + v.NotChecked}
	case v.Violation != "":
		return []string{"structuredContent does not conform to the outputSchema: " + v.Violation}
	}
	return nil
}
