package mcphubv1

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

// This file is written by hand. It says what a well-formed message of a host or a window is: each field has the rule of
// its name and its type, so that a new field is bounded from its first day. Only form is checked. Whether a server, a
// tool or a request exists is for the hub to say.

// Check returns what is wrong with the form of a message, nil if nothing is. The error begins with the field.
func Check(m proto.Message) error {
	_, err := check(m.ProtoReflect())
	return err
}

// check checks a message, and returns how many bytes all of its texts have together.
func check(m protoreflect.Message) (size int, err error) {
	d := m.Descriptor()
	if d.FullName().Parent() != "mcphub.v1" { // the request of a call, which is checked when it is unpacked
		return 0, nil
	}
	for i := range d.Oneofs().Len() {
		if o := d.Oneofs().Get(i); !o.IsSynthetic() && m.WhichOneof(o) == nil {
			return 0, fmt.Errorf("%s: none is set, or one that this hub does not know; set one of %s", o.Name(), members(o))
		}
	}
	for _, name := range required[d.Name()] {
		if !m.Has(d.Fields().ByName(name)) {
			return 0, fmt.Errorf("%s: must not be empty", name)
		}
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		var bytes int
		bytes, err = checkField(f, v)
		size += bytes
		return err == nil
	})
	if err != nil {
		return 0, err
	}
	return size, checkTogether(m.Interface())
}

func members(o protoreflect.OneofDescriptor) string {
	var names []string
	for i := range o.Fields().Len() {
		names = append(names, string(o.Fields().Get(i).Name()))
	}
	return strings.Join(names, ", ")
}

// checkField checks a field that is set.
func checkField(f protoreflect.FieldDescriptor, v protoreflect.Value) (size int, err error) {
	most, longest := manyOf(f)
	add := func(of protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		var bytes int
		bytes, err = checkValue(of, value)
		size += bytes
		return err == nil
	}
	at := ""
	switch {
	case f.IsList() && v.List().Len() > most, f.IsMap() && v.Map().Len() > most:
		err = fmt.Errorf(": more than %d", most)
	case f.IsList():
		for i := range v.List().Len() {
			if !add(f, v.List().Get(i)) {
				at = fmt.Sprintf("[%d]", i)
				break
			}
		}
	case f.IsMap():
		v.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			size += len(key.String())
			if key.String() == "" || len(key.String()) > maxName {
				err = fmt.Errorf(": a name in it is empty, or longer than %d bytes", maxName)
				return false
			}
			return add(f.MapValue(), value)
		})
	default:
		add(f, v)
	}
	if err == nil && size > longest {
		err = fmt.Errorf(": texts of more than %d bytes together", longest)
	}
	if err != nil {
		err = fmt.Errorf("%s%s%w", f.Name(), at, err)
	}
	return size, err
}

// manyOf returns how many elements a field may have, and how many bytes they may have together.
func manyOf(f protoreflect.FieldDescriptor) (most, longest int) {
	switch f.FullName() {
	case "mcphub.v1.ExpandUriTemplateRequest.values":
		return 256, math.MaxInt
	case "mcphub.v1.FillProposalRequest.values":
		return 200, 1 << 20
	}
	switch f.Name() {
	case "prompt_kinds":
		return 64, math.MaxInt
	case "sources", "arguments", "context":
		return 256, math.MaxInt
	case "inputs", "form", "changed_form":
		return 1000, maxEntry
	case "roots":
		return 1024, math.MaxInt
	case "remembered_ids":
		return 4096, math.MaxInt
	}
	return 1000, math.MaxInt
}

// checkValue checks one value of a field. The error goes behind the name of the field.
func checkValue(f protoreflect.FieldDescriptor, v protoreflect.Value) (size int, err error) {
	switch f.Kind() {
	case protoreflect.StringKind:
		err = checkText(f, v.String())
		size = len(v.String())
	case protoreflect.EnumKind: // proto3 lets numbers through that are not in the contract
		switch n := v.Enum(); {
		case n == 0 && f.IsList():
			err = errors.New("must be specified")
		case f.Enum().Values().ByNumber(n) == nil:
			err = fmt.Errorf("%d is not known", n)
		}
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		err = checkNumber(f, v.Int())
	case protoreflect.Uint32Kind:
		err = checkNumber(f, int64(v.Uint()))
	case protoreflect.MessageKind:
		if d, ok := v.Message().Interface().(*durationpb.Duration); ok {
			err = checkDuration(d)
		} else if size, err = check(v.Message()); err != nil {
			return size, fmt.Errorf(".%w", err)
		}
	}
	if err != nil {
		err = fmt.Errorf(": %w", err)
	}
	return size, err
}

func checkDuration(d *durationpb.Duration) error {
	switch {
	case d.CheckValid() != nil:
		return errors.New("is no valid duration")
	case d.AsDuration() < 0: // 0 means no limit
		return errors.New("must not be negative")
	}
	return nil
}

func checkNumber(f protoreflect.FieldDescriptor, n int64) error {
	highest := int64(math.MaxInt64)
	switch f.Name() {
	case "max_progress_rate": // events a second
		highest = 20
	case "max_history":
		highest = 1000
	case "page_size":
		highest = 100
	case "port":
		highest = math.MaxUint16
	}
	switch {
	case n >= 0 && n <= highest:
		return nil
	case highest == math.MaxInt64:
		return errors.New("must not be negative")
	}
	return fmt.Errorf("%d is not between 0 and %d", n, highest)
}

const (
	maxName  = 1024
	maxEntry = 256 << 10 // of the entry of a config
)

// words are the texts that may stand in a field, by its name or, where one means something else than others of that
// name, by its full name.
var words = map[string][]string{
	"scope": {"user", "workspace", "host"},
	"dialect": {"vscode", "portable", "roo", "cline", "claude-desktop", "cursor", "gemini", "codex", "opencode",
		"crush", "mcpServers"},
	"mcphub.v1.ManagedPolicy.dialect": {"vscode", "cline"},
	"level":                           {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"},
	"to_default":                      {"connect", "idle", "total", "human"},
}

func init() { words["entry_dialect"] = words["dialect"] }

// chosen reports whether a field that is set was chosen among several.
func chosen(f protoreflect.FieldDescriptor) bool {
	o := f.ContainingOneof()
	return o != nil && !o.IsSynthetic()
}

func checkText(f protoreflect.FieldDescriptor, s string) error {
	longest, printable := boundOf(f)
	switch {
	case s == "" && (f.Name() == "remembered_ids" || chosen(f)):
		return errors.New("must not be empty")
	case len(s) > longest:
		return fmt.Errorf("longer than %d bytes", longest)
	}
	allowed := words[string(f.FullName())]
	if allowed == nil {
		allowed = words[string(f.Name())]
	}
	if allowed != nil && !slices.Contains(allowed, s) {
		return errors.New("must be one of " + strings.Join(allowed, ", "))
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }); printable && i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return fmt.Errorf("holds the character %U, which cannot be printed", r)
	}
	return nil
}

// boundOf returns how many bytes a text may have, and whether it must be printable.
func boundOf(f protoreflect.FieldDescriptor) (longest int, printable bool) {
	switch f.FullName() {
	case "mcphub.v1.OpenGatewayRequest.title", "mcphub.v1.GetRegistryServerRequest.name":
		return 256, false
	}
	name := string(f.Name())
	switch name {
	case "comes_back_to":
		return 128, true
	case "id": // of an input
		return 128, false
	case "title", "task_label", "caller", "acts_for", "written_by":
		return 256, true
	case "cancel_reason", "launch_hash", "version", "remembered_ids":
		return 256, false
	case "registry_url":
		return 2048, false
	case "cursor":
		return 4096, false
	case "uri", "uri_template", "config_file", "path", "folder", "command", "directory", "url":
		return 8 << 10, false
	case "reason", "extensions_json": // the hub cuts a reason to 256 characters
		return 64 << 10, false
	case "entry_json", "patch_json", "text", "description", "default", "options", "args", "unset_environment":
		return maxEntry, false
	case "value", "values", "meta_json": // value is also that of each map of texts
		return 1 << 20, false
	case "content_json", "request_json":
		return 16 << 20, false
	case "arguments_json", "json", "method": // the largest message bounds them
		return math.MaxInt, false
	}
	if strings.HasSuffix(name, "_id") {
		return 128, true
	}
	return maxName, false
}

// required are the fields that must not be empty. A text that was chosen among several must not be empty either.
var required = fields(`CancelRequestRequest.request_id CancelMcpRequest.request_id ReadRequestRequest.request_id
	ReadRequestRequest.part PromptAnswer.prompt_id GiveUp.message_id CloseGatewayRequest.gateway_id
	StartServerRequest.server StopServerRequest.server RestartServerRequest.server SetServerEnabledRequest.server
	MuteServerRequest.server SetLogLevelRequest.server SetLogLevelRequest.level ListResourcesRequest.server
	ListResourceTemplatesRequest.server ListMcpPromptsRequest.server ReadResourceRequest.server ReadResourceRequest.uri
	SubscribeResourceRequest.server SubscribeResourceRequest.uri UnsubscribeResourceRequest.server
	UnsubscribeResourceRequest.uri ExpandUriTemplateRequest.uri_template GetMcpPromptRequest.server
	GetMcpPromptRequest.name CompleteRequest.server CompleteRequest.argument SignInRequest.server SignOutRequest.server
	Root.uri AddServerRequest.server UpdateServerRequest.server RemoveServerRequest.server GetServerEntryRequest.server
	EntryInput.id SearchToolsRequest.query ReadResultRequest.result_id GetRegistryServerRequest.name
	FillProposalRequest.proposal_id`)

// fields returns, for each message, the fields in a list of MESSAGE.FIELD.
func fields(list string) map[protoreflect.Name][]protoreflect.Name {
	all := map[protoreflect.Name][]protoreflect.Name{}
	for name := range strings.FieldsSeq(list) {
		message, field, _ := strings.Cut(name, ".")
		all[protoreflect.Name(message)] = append(all[protoreflect.Name(message)], protoreflect.Name(field))
	}
	return all
}

// checkTogether checks the fields of a message that say something only together.
func checkTogether(m proto.Message) error {
	switch x := m.(type) {
	case *CallToolRequest: // a tool of a server, or one by its name for models
		switch {
		case x.GetModelName() != "" && (x.GetServer() != "" || x.GetTool() != ""):
			return errors.New("model_name: stands in place of server and tool")
		case x.GetModelName() == "" && x.GetServer() == "":
			return errors.New("server: must not be empty")
		case x.GetModelName() == "" && x.GetTool() == "":
			return errors.New("tool: must not be empty")
		}
	case *CancelRequestsRequest:
		if all, ok := x.GetScope().(*CancelRequestsRequest_All); ok && !all.All {
			return errors.New("all: must be true when it is set")
		}
	case *ConfigSource:
		if x.GetPath() == "" && x.GetJson() == "" {
			return errors.New("path: a source needs a path or json")
		}
	case *ServerForm:
		if (x.GetCommand() == "") == (x.GetUrl() == "") {
			return errors.New("command: set one of command and url")
		}
	case *EntryInput:
		if x.GetSecret() && x.GetDefault() != "" {
			return errors.New("default: a secret has none, as it would stand in the file")
		}
	case *AddServerRequest:
		if x.GetForm() != nil && x.GetChangedForm() != nil {
			return errors.New("changed_form: goes with entry_json")
		}
	case *UpdateServerRequest:
		if x.GetForm() == nil && x.GetPatchJson() == "" && x.GetSettings() == nil {
			return errors.New("form: nothing changes; set form, patch_json or settings")
		}
	case *SearchRegistryRequest:
		if utf8.RuneCountInString(x.GetQuery()) > 200 {
			return errors.New("query: longer than 200 characters")
		}
	case *Hello:
		return checkExtensions(x.GetExtensionsJson())
	case *SetCapabilities:
		return checkExtensions(x.GetExtensionsJson())
	}
	return nil
}

// checkExtensions checks what a window says that it can show of MCP's extensions.
func checkExtensions(text string) error {
	if text == "" {
		return nil
	}
	var of map[string]map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &of) != nil || of == nil {
		return errors.New("extensions_json: must be a JSON object whose members are objects")
	}
	for name := range of {
		if !strings.Contains(name, "/") {
			return errors.New("extensions_json: an extension is named with its prefix, like io.modelcontextprotocol/ui")
		}
	}
	return nil
}
