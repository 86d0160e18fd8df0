package ipc

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestResourceValidation(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	read := func(change func(*mcphubv1.ReadResourceRequest)) *mcphubv1.ReadResourceRequest {
		r := &mcphubv1.ReadResourceRequest{Server: "s", Uri: "a:b"}
		change(r)
		return r
	}
	template := &mcphubv1.CompleteRequest_UriTemplate{UriTemplate: "a:{b}"}
	attach := func(extensions string) *mcphubv1.AttachRequest {
		return &mcphubv1.AttachRequest{
			Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{ExtensionsJson: extensions}}}
	}
	change := func(extensions string) *mcphubv1.AttachRequest {
		return &mcphubv1.AttachRequest{
			Message: &mcphubv1.AttachRequest_SetCapabilities{
				SetCapabilities: &mcphubv1.SetCapabilities{ExtensionsJson: extensions}}}
	}
	for _, c := range []struct {
		name    string
		message proto.Message
		field   string // what the error begins with, "" = valid
	}{
		{"read", read(func(*mcphubv1.ReadResourceRequest) {}), ""},
		{"read, id with newline", read(func(r *mcphubv1.ReadResourceRequest) { r.RequestId = "a\nb" }), "request_id:"},
		{"read, no server", read(func(r *mcphubv1.ReadResourceRequest) { r.Server = "" }), "server:"},
		{"read, large meta", read(func(r *mcphubv1.ReadResourceRequest) { r.MetaJson = long(1 << 20) }), "meta_json:"},
		{"read, long label", read(func(r *mcphubv1.ReadResourceRequest) { r.TaskLabel = long(256) }), "task_label:"},
		{"read, long owner", read(func(r *mcphubv1.ReadResourceRequest) { r.OwnerWindowId = long(128) }), "owner_window_id:"},
		{"read, long uri", read(func(r *mcphubv1.ReadResourceRequest) { r.Uri = long(64 << 10) }), "uri:"},
		{"subscribe, no uri", &mcphubv1.SubscribeResourceRequest{Server: "s"}, "uri:"},
		{"unsubscribe, no server", &mcphubv1.UnsubscribeResourceRequest{Uri: "a:b"}, "server:"},
		{"prompt", &mcphubv1.GetMcpPromptRequest{Server: "s", Name: "p", Arguments: map[string]string{"a": ""}}, ""},
		{"prompt, argument without a name", &mcphubv1.GetMcpPromptRequest{Server: "s", Name: "p",
			Arguments: map[string]string{"": "x"}}, "arguments:"},
		{"prompt, large argument", &mcphubv1.GetMcpPromptRequest{Server: "s", Name: "p",
			Arguments: map[string]string{"a": long(1 << 20)}}, "arguments:"},
		{"complete", &mcphubv1.CompleteRequest{Server: "s", Argument: "a", Reference: template}, ""},
		{"complete, of nothing", &mcphubv1.CompleteRequest{Server: "s", Argument: "a"}, "reference:"},
		{"complete, of a prompt without a name", &mcphubv1.CompleteRequest{Server: "s", Argument: "a",
			Reference: &mcphubv1.CompleteRequest_McpPrompt{}}, "mcp_prompt:"},
		{"complete, no argument", &mcphubv1.CompleteRequest{Server: "s", Reference: template}, "argument:"},
		{"complete, context", &mcphubv1.CompleteRequest{Server: "s", Argument: "a", Reference: template,
			Context: map[string]string{"": "x"}}, "context:"},
		{"list, negative limit", &mcphubv1.ListResourcesRequest{Server: "s", Limit: -1}, "limit:"},
		{"list, long query", &mcphubv1.ListMcpPromptsRequest{Server: "s", Query: long(1024)}, "query:"},
		{"list of templates, no server", &mcphubv1.ListResourceTemplatesRequest{}, "server:"},
		{"expand, nothing", &mcphubv1.ExpandUriTemplateRequest{}, "uri_template:"},
		{"expand, a value without a name", &mcphubv1.ExpandUriTemplateRequest{UriTemplate: "a:{b}",
			Values: map[string]string{"": "x"}}, "values:"},
		{"sign in, long server", &mcphubv1.SignInRequest{Server: long(1024)}, "server:"},
		{"extensions", attach(`{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}`), ""},
		{"extensions, no object", attach(`[]`), "hello.extensions_json:"},
		{"extensions, null", attach(`null`), "hello.extensions_json:"},
		{"extensions, member no object", attach(`{"a/b":1}`), "hello.extensions_json:"},
		{"extensions, no prefix", change(`{"ui":{}}`), "set_capabilities.extensions_json:"},
		{"extensions, large", change(`{"a/b":{"c":"` + long(64<<10) + `"}}`), "set_capabilities.extensions_json:"},
		{"sign-in kind", &mcphubv1.Hello{PromptKinds: []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN}}, ""},
	} {
		err := mcphubv1.Check(c.message)
		if c.field == "" && err != nil || c.field != "" && (err == nil || !strings.HasPrefix(err.Error(), c.field)) {
			t.Errorf("%s: got %v, want an error about %q", c.name, err, c.field)
		}
	}
}

// fillMessage sets every field below m; of a oneof the last branch.
func fillMessage(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
			m.Mutable(f).Map().Set(protoreflect.ValueOfString("key").MapKey(), protoreflect.ValueOfString("text"))
		case f.IsList() && f.Message() != nil:
			fillMessage(m.Mutable(f).List().AppendMutable().Message())
		case f.IsList():
			m.Mutable(f).List().Append(valueFor(f))
		case f.Message() != nil:
			fillMessage(m.Mutable(f).Message())
		default:
			m.Set(f, valueFor(f))
		}
	}
}

func valueFor(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		if f.Name() == "extensions_json" {
			return protoreflect.ValueOfString(`{"a/b":{}}`)
		}
		return protoreflect.ValueOfString("text")
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(1)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(1)
	}
	return protoreflect.ValueOfUint64(1)
}

// zeros lists the fields of a struct that have their zero value.
func zeros(v reflect.Value, path string) (found []string) {
	for i := range v.NumField() {
		name := path + "." + v.Type().Field(i).Name
		switch f := v.Field(i); {
		case f.IsZero():
			found = append(found, name)
		case f.Kind() == reflect.Struct:
			found = append(found, zeros(f, name)...)
		}
	}
	return found
}

// No field that a host sets is forgotten on its way to the hub.
func TestConversionInFillsEveryField(t *testing.T) {
	traced := metadata.NewIncomingContext(t.Context(), metadata.Pairs("traceparent", "00-1", "tracestate", "a=b",
		"baggage", "c=d"))
	// Gateways set these, and no host.
	gateways := []string{"CallRequest.Further", "CallRequest.Caller", "CallRequest.Questions", "CallRequest.LogLevel"}
	unnamed := append(gateways[:2:2], "CallRequest.CallerName", "CallRequest.Questions", "CallRequest.LogLevel")
	for _, c := range []struct {
		message proto.Message
		convert func(proto.Message) any
		except  []string
	}{
		{&mcphubv1.CallToolRequest{}, func(m proto.Message) any {
			return callRequest(traced, m.(*mcphubv1.CallToolRequest))
		}, append(gateways, "CallRequest.URI", "CallRequest.McpPrompt", "CallRequest.PromptArguments")},
		{&mcphubv1.ReadResourceRequest{}, func(m proto.Message) any {
			return resourceRequest(traced, m.(*mcphubv1.ReadResourceRequest))
		}, append(unnamed, "CallRequest.Tool", "CallRequest.Arguments", "CallRequest.Preapproved", "CallRequest.PreferTask",
			"CallRequest.McpPrompt", "CallRequest.PromptArguments")},
		{&mcphubv1.GetMcpPromptRequest{}, func(m proto.Message) any {
			return mcpPromptRequest(traced, m.(*mcphubv1.GetMcpPromptRequest))
		}, slices.Insert(append(unnamed, "CallRequest.Tool", "CallRequest.Arguments", "CallRequest.Preapproved",
			"CallRequest.PreferTask", "CallRequest.URI"), 4, "CallRequest.AppOf")},
		// fillMessage sets the other branch of the oneof
		{&mcphubv1.CompleteRequest{}, func(m proto.Message) any {
			return completion(m.(*mcphubv1.CompleteRequest))
		}, []string{"Completion.McpPrompt", "Completion.Meta", "Completion.Further"}},
		{&mcphubv1.Hello{}, func(m proto.Message) any { return helloOf(m.(*mcphubv1.Hello)) }, nil},
	} {
		fillMessage(c.message.ProtoReflect())
		got := c.convert(c.message)
		if diff := cmp.Diff(c.except, zeros(reflect.ValueOf(got), reflect.TypeOf(got).Name())); diff != "" {
			t.Errorf("%T: fields that stay empty (-want +got):\n%s", c.message, diff)
		}
	}
	if got := completion(
		&mcphubv1.CompleteRequest{Reference: &mcphubv1.CompleteRequest_McpPrompt{McpPrompt: "p"}}); got.McpPrompt != "p" ||
		got.URITemplate != "" {
		t.Errorf("%+v", got)
	}
}
