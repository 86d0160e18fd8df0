package ipc

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func entryJSON(text string) *mcphubv1.AddServerRequest_EntryJson {
	return &mcphubv1.AddServerRequest_EntryJson{EntryJson: text}
}

func TestValidation(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	call := func(change func(*mcphubv1.CallToolRequest)) *mcphubv1.CallToolRequest {
		r := &mcphubv1.CallToolRequest{Server: "s", Tool: "t"}
		change(r)
		return r
	}
	read := func(change func(*mcphubv1.ReadResourceRequest)) *mcphubv1.ReadResourceRequest {
		r := &mcphubv1.ReadResourceRequest{Server: "s", Uri: "a:b"}
		change(r)
		return r
	}
	template := &mcphubv1.CompleteRequest_UriTemplate{UriTemplate: "a:{b}"}
	attach := func(m any) *mcphubv1.AttachRequest {
		switch m := m.(type) {
		case *mcphubv1.Hello:
			return &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: m}}
		case *mcphubv1.PromptAnswer:
			return &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: m}}
		case *mcphubv1.SetRoots:
			return &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_SetRoots{SetRoots: m}}
		case *mcphubv1.SetCapabilities:
			return &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_SetCapabilities{SetCapabilities: m}}
		}
		panic("unknown message")
	}
	accept := func(a *mcphubv1.AcceptPrompt) *mcphubv1.PromptAnswer {
		return &mcphubv1.PromptAnswer{PromptId: "p", Action: &mcphubv1.PromptAnswer_Accept{Accept: a}}
	}
	cases := []struct {
		name    string
		message proto.Message
		field   string // what the error begins with, "" = valid
	}{
		{"call", call(func(*mcphubv1.CallToolRequest) {}), ""},
		{"call, all fields", call(func(r *mcphubv1.CallToolRequest) {
			r.RequestId = strings.Repeat("x", 128)
			r.Timeouts = &mcphubv1.Timeouts{Idle: durationpb.New(0), Human: durationpb.New(time.Hour)}
		}), ""},
		{"call, unicode id", call(func(r *mcphubv1.CallToolRequest) { r.RequestId = "Anfrage-\u00fc" }), ""},
		{"call, long id", call(func(r *mcphubv1.CallToolRequest) { r.RequestId = long(128) }), "request_id:"},
		{"call, id with newline", call(func(r *mcphubv1.CallToolRequest) { r.RequestId = "a\nb" }), "request_id:"},
		{"call, id with direction mark", call(func(r *mcphubv1.CallToolRequest) { r.RequestId = "a\u202eb" }), "request_id:"},
		{"call, no server", call(func(r *mcphubv1.CallToolRequest) { r.Server = "" }), "server:"},
		{"call, no tool", call(func(r *mcphubv1.CallToolRequest) { r.Tool = "" }), "tool:"},
		{"call, long tool", call(func(r *mcphubv1.CallToolRequest) { r.Tool = long(1024) }), "tool:"},
		{"call, long label", call(func(r *mcphubv1.CallToolRequest) { r.TaskLabel = long(256) }), "task_label:"},
		{"call, long owner", call(func(r *mcphubv1.CallToolRequest) { r.OwnerWindowId = long(128) }), "owner_window_id:"},
		{"call, large meta", call(func(r *mcphubv1.CallToolRequest) { r.MetaJson = long(1 << 20) }), "meta_json:"},
		{"call, negative clock", call(func(r *mcphubv1.CallToolRequest) {
			r.Timeouts = &mcphubv1.Timeouts{Total: durationpb.New(-1)}
		}), "timeouts.total:"},
		{"call, broken clock", call(func(r *mcphubv1.CallToolRequest) {
			r.Timeouts = &mcphubv1.Timeouts{Human: &durationpb.Duration{Seconds: 1, Nanos: -1}}
		}), "timeouts.human:"},
		{"cancel", &mcphubv1.CancelRequestRequest{RequestId: "r"}, ""},
		{"cancel, no id", &mcphubv1.CancelRequestRequest{}, "request_id:"},
		{"cancel, long reason", &mcphubv1.CancelRequestRequest{RequestId: "r", Reason: long(64 << 10)}, "reason:"},
		{"cancel scope", &mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_All{All: true}}, ""},
		{"cancel scope, none", &mcphubv1.CancelRequestsRequest{}, "scope:"},
		{"cancel scope, not all", &mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_All{}}, "all:"},
		{"cancel scope, empty server", &mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_Server{}},
			"server:"},
		{"cancel scope, empty label", &mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_TaskLabel{}},
			"task_label:"},
		{"list requests", &mcphubv1.ListRequestsRequest{}, ""},
		{"list requests, long server", &mcphubv1.ListRequestsRequest{Server: long(1024)}, "server:"},
		{"drain, long reason", &mcphubv1.DrainRequest{Reason: long(64 << 10)}, "reason:"},
		{"start", &mcphubv1.StartServerRequest{}, "server:"},
		{"stop", &mcphubv1.StopServerRequest{}, "server:"},
		{"restart", &mcphubv1.RestartServerRequest{}, "server:"},
		{"enable", &mcphubv1.SetServerEnabledRequest{}, "server:"},
		{"mute", &mcphubv1.MuteServerRequest{}, "server:"},
		{"add", &mcphubv1.AddServerRequest{Server: "s", Entry: entryJSON("{}")}, ""},
		{"add, nothing", &mcphubv1.AddServerRequest{Server: "s"}, "entry:"},
		{"add, no name", &mcphubv1.AddServerRequest{Entry: entryJSON("{}")}, "server:"},
		{"add, long text", &mcphubv1.AddServerRequest{Server: "s", Entry: entryJSON(long(256 << 10))}, "entry_json:"},
		{"add, dialect", &mcphubv1.AddServerRequest{Server: "s", Entry: entryJSON("{}"), EntryDialect: "x"}, "entry_dialect:"},
		{"add, both", &mcphubv1.AddServerRequest{Server: "s", Entry: &mcphubv1.AddServerRequest_Form{
			Form: &mcphubv1.ServerForm{Command: "x", Url: "https://example.com"}}}, "form.command:"},
		{"add, long form", &mcphubv1.AddServerRequest{Server: "s", Entry: &mcphubv1.AddServerRequest_Form{
			Form: &mcphubv1.ServerForm{Command: "x", Args: []string{long(256 << 10)}}}}, "form.args[0]:"},
		{"add, long form together", &mcphubv1.AddServerRequest{Server: "s", Entry: &mcphubv1.AddServerRequest_Form{
			Form: &mcphubv1.ServerForm{Command: "x", Args: []string{long(128 << 10), long(128 << 10)}}}}, "form:"},
		{"add, changed form alone", &mcphubv1.AddServerRequest{Server: "s", ChangedForm: &mcphubv1.ServerForm{Command: "x"},
			Entry: &mcphubv1.AddServerRequest_Form{Form: &mcphubv1.ServerForm{Command: "x"}}}, "changed_form:"},
		{"add, secret input with a default", &mcphubv1.AddServerRequest{Server: "s", Entry: entryJSON("{}"),
			Inputs: []*mcphubv1.EntryInput{{Id: "t", Secret: true, Default: "x"}}}, "inputs[0].default:"},
		{"add, many options of an input", &mcphubv1.AddServerRequest{Server: "s", Entry: entryJSON("{}"),
			Inputs: []*mcphubv1.EntryInput{{Id: "t", Options: make([]string, 1001)}}}, "inputs[0].options:"},
		{"fill, many values", &mcphubv1.FillProposalRequest{ProposalId: "p", Values: map[string]*mcphubv1.InputValues{
			"a": {Values: make([]string, 1001)}}}, "values.values:"},
		{"read text", &mcphubv1.ReadConfigTextRequest{}, ""},
		{"read text, long", &mcphubv1.ReadConfigTextRequest{Text: long(256 << 10)}, "text:"},
		{"entry, no name", &mcphubv1.GetServerEntryRequest{}, "server:"},
		{"update, nothing", &mcphubv1.UpdateServerRequest{Server: "s"}, "form:"},
		{"update, patch", &mcphubv1.UpdateServerRequest{Server: "s", PatchJson: "{}"}, ""},
		{"update, clock", &mcphubv1.UpdateServerRequest{Server: "s", Settings: &mcphubv1.ServerSettings{
			Timeouts: &mcphubv1.ServerTimeouts{ToDefault: []string{"x"}}}}, "settings.timeouts.to_default[0]:"},
		{"update, negative clock", &mcphubv1.UpdateServerRequest{Server: "s", Settings: &mcphubv1.ServerSettings{
			Timeouts: &mcphubv1.ServerTimeouts{Idle: durationpb.New(-1)}}}, "settings.timeouts.idle:"},
		{"update, policy", &mcphubv1.UpdateServerRequest{Server: "s", Settings: &mcphubv1.ServerSettings{
			Approvals: map[string]mcphubv1.ApprovalPolicy{"t": 99}}}, "settings.approvals:"},
		{"remove, long name", &mcphubv1.RemoveServerRequest{Server: long(1024)}, "server:"},
		{"undo, writer", &mcphubv1.UndoConfigWriteRequest{WrittenBy: "a\nb"}, "written_by:"},
		{"list tools", &mcphubv1.ListToolsRequest{}, ""},
		{"list tools, long server", &mcphubv1.ListToolsRequest{Server: long(1024)}, "server:"},
		{"log level", &mcphubv1.SetLogLevelRequest{Server: "s", Level: "warning"}, ""},
		{"log level, unknown", &mcphubv1.SetLogLevelRequest{Server: "s", Level: "warn"}, "level:"},
		{"log level, no server", &mcphubv1.SetLogLevelRequest{Level: "info"}, "server:"},
		{"config", &mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Path: "p", Scope: "user"}, {Json: "{}"}}},
			""},
		{"config, empty source", &mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Path: "p"}, {}}},
			"sources[1].path:"},
		{"config, unknown scope", &mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Path: "p", Scope: "x"}}},
			"sources[0].scope:"},
		{"policy of a dialect of configs", &mcphubv1.ReloadConfigRequest{
			ManagedPolicy: &mcphubv1.ManagedPolicy{Json: "{}", Dialect: "portable"}},
			"managed_policy.dialect: must be one of vscode, cline"},
		{"policy of a dialect of its own", &mcphubv1.ReloadConfigRequest{
			ManagedPolicy: &mcphubv1.ManagedPolicy{Json: "{}", Dialect: "cline"}}, ""},
		{"config, many sources", &mcphubv1.ReloadConfigRequest{Sources: make([]*mcphubv1.ConfigSource, 257)}, "sources:"},
		{"hello", attach(&mcphubv1.Hello{MaxProgressRate: 20}), ""},
		{"hello, high rate", attach(&mcphubv1.Hello{MaxProgressRate: 21}), "hello.max_progress_rate:"},
		{"hello, negative rate", attach(&mcphubv1.Hello{MaxProgressRate: -1}), "hello.max_progress_rate:"},
		{"hello, unknown kind", attach(&mcphubv1.Hello{PromptKinds: []mcphubv1.PromptKind{1, 99}}), "hello.prompt_kinds[1]:"},
		{"hello, no kind", attach(&mcphubv1.Hello{PromptKinds: []mcphubv1.PromptKind{0}}), "hello.prompt_kinds[0]:"},
		{"hello, window id", attach(&mcphubv1.Hello{WindowId: "a\tb"}), "hello.window_id:"},
		{"hello, long title", attach(&mcphubv1.Hello{Title: long(256)}), "hello.title:"},
		{"hello, long hub id", attach(&mcphubv1.Hello{ComesBackTo: long(128)}), "hello.comes_back_to:"},
		{"hello, root", attach(&mcphubv1.Hello{Roots: []*mcphubv1.Root{{}}}), "hello.roots[0].uri:"},
		{"roots, many", attach(&mcphubv1.SetRoots{Roots: make([]*mcphubv1.Root, 1025)}), "set_roots.roots:"},
		{"capabilities", attach(&mcphubv1.SetCapabilities{PromptKinds: []mcphubv1.PromptKind{99}}),
			"set_capabilities.prompt_kinds[0]:"},
		{"cancel button", cancelMessage("1", ""), "cancel_mcp_request.request_id:"},
		{"answer", attach(accept(&mcphubv1.AcceptPrompt{})), ""},
		{"answer, no prompt", attach(&mcphubv1.PromptAnswer{Action: &mcphubv1.PromptAnswer_Dismiss{}}),
			"answer_prompt.prompt_id:"},
		{"answer, no action", attach(&mcphubv1.PromptAnswer{PromptId: "p"}), "answer_prompt.action:"},
		{"answer, unknown scope", attach(accept(&mcphubv1.AcceptPrompt{Scope: 9})), "answer_prompt.accept.scope:"},
		{"answer, large content", attach(accept(&mcphubv1.AcceptPrompt{ContentJson: long(16 << 20)})),
			"answer_prompt.accept.content_json:"},
		{"answer, large request", attach(accept(&mcphubv1.AcceptPrompt{RequestJson: long(16 << 20)})),
			"answer_prompt.accept.request_json:"},
		{"hello, history", attach(&mcphubv1.Hello{MaxHistory: 1000}), ""},
		{"hello, long history", attach(&mcphubv1.Hello{MaxHistory: 1001}), "hello.max_history:"},
		{"hello, negative history", attach(&mcphubv1.Hello{MaxHistory: -1}), "hello.max_history:"},
		{"stop, long reason", &mcphubv1.StopServerRequest{Server: "s", Reason: long(64 << 10)}, "reason:"},
		{"sign-in", &mcphubv1.SignInRequest{}, "server:"},
		{"sign-out", &mcphubv1.SignOutRequest{}, "server:"},
		{"trace", &mcphubv1.GetTraceRequest{MaxTraces: -1}, "max_traces:"},
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
		{"hello, extensions", attach(&mcphubv1.Hello{
			ExtensionsJson: `{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}`}), ""},
		{"hello, extensions, no object", attach(&mcphubv1.Hello{ExtensionsJson: `[]`}), "hello.extensions_json:"},
		{"hello, extensions, null", attach(&mcphubv1.Hello{ExtensionsJson: `null`}), "hello.extensions_json:"},
		{"hello, extensions, no member", attach(&mcphubv1.Hello{ExtensionsJson: `{"a/b":1}`}), "hello.extensions_json:"},
		{"capabilities, extensions, no prefix", attach(&mcphubv1.SetCapabilities{ExtensionsJson: `{"ui":{}}`}),
			"set_capabilities.extensions_json:"},
		{"capabilities, extensions, large", attach(&mcphubv1.SetCapabilities{
			ExtensionsJson: `{"a/b":{"c":"` + long(64<<10) + `"}}`}), "set_capabilities.extensions_json:"},
		{"sign-in kind", &mcphubv1.Hello{PromptKinds: []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN}}, ""},
		{"gateway", &mcphubv1.OpenGatewayRequest{}, ""},
		{"gateway, port", &mcphubv1.OpenGatewayRequest{Port: 65536}, "port:"},
		{"gateway, long title", &mcphubv1.OpenGatewayRequest{Title: long(256)}, "title:"},
		{"gateway, long reason", &mcphubv1.OpenGatewayRequest{CancelReason: long(256)}, "cancel_reason:"},
		{"gateway, approval", &mcphubv1.OpenGatewayRequest{Approval: 9}, "approval:"},
		{"gateway, questions", &mcphubv1.OpenGatewayRequest{Questions: 9}, "questions:"},
		{"gateway, tools", &mcphubv1.OpenGatewayRequest{Tools: 9}, "tools:"},
		{"gateway, none", &mcphubv1.CloseGatewayRequest{}, "gateway_id:"},
		{"forget, empty id", &mcphubv1.ForgetRequest{RememberedIds: []string{""}}, "remembered_ids[0]:"},
		{"forget, many", &mcphubv1.ForgetRequest{RememberedIds: slices.Repeat([]string{"x"}, 4097)}, "remembered_ids:"},
		{"read request, no id", &mcphubv1.ReadRequestRequest{Part: 1}, "request_id:"},
		{"read request, no part", &mcphubv1.ReadRequestRequest{RequestId: "r"}, "part:"},
		{"read request, part", &mcphubv1.ReadRequestRequest{RequestId: "r", Part: 9}, "part:"},
		{"read request, offset", &mcphubv1.ReadRequestRequest{RequestId: "r", Part: 1, Offset: -1}, "offset:"},
		{"no message", &mcphubv1.AttachRequest{}, "message:"},
		{"long message id", cancelMessage(long(128), "r"), "message_id:"},
	}
	for _, c := range cases {
		err := mcphubv1.Check(c.message)
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%s: refused: %v", c.name, err)
		case c.field != "" && err == nil:
			t.Errorf("%s: accepted", c.name)
		case c.field != "" && !strings.HasPrefix(err.Error(), c.field):
			t.Errorf("%s: the error %q does not name %s", c.name, err, c.field)
		}
	}
}
