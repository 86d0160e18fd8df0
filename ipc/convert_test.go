package ipc

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The constants of package event have the names and the numbers of the contract's, in the order of their source.
func TestConversionRoundTrip(t *testing.T) {
	for _, c := range []struct {
		typeName, prefix string
		first            int
		enum             protoreflect.Enum
	}{
		{"Direction", "", int(event.Outgoing), mcphubv1.RequestDirection(0)},
		{"RequestState", "State", int(event.StateQueued), mcphubv1.RequestState(0)},
		{"Origin", "Origin", int(event.OriginUser), mcphubv1.Origin(0)},
		{"Outcome", "Outcome", int(event.OutcomeCancelling), mcphubv1.CancelOutcome(0)},
		{"CancelDelivery", "Delivery", int(event.DeliveryNotNeeded), mcphubv1.CancelDelivery(0)},
		{"Era", "Era", int(event.EraLegacy), mcphubv1.Era(0)},
		{"PromptKind", "Prompt", int(event.PromptToolApproval), mcphubv1.PromptKind(0)},
		{"PromptCause", "Cause", int(event.CauseAnswered), mcphubv1.PromptCause(0)},
		{"ApprovalScope", "Scope", int(event.ScopeOnce) + 1, mcphubv1.ApprovalScope(0)},
		{"ServerState", "Server", int(event.ServerStopped), mcphubv1.ServerState(0)},
		{"Policy", "Policy", int(event.PolicyAllow), mcphubv1.ApprovalPolicy(0)},
		{"Transport", "Transport", int(event.TransportStdio), mcphubv1.ServerTransport(0)},
		{"SignInState", "SignIn", int(event.SignInNeeded), mcphubv1.SignInState(0)},
		{"ServerStart", "Start", int(event.StartLazy), mcphubv1.ServerStart(0)},
		{"LaunchConsent", "Launch", int(event.LaunchNeeded), mcphubv1.LaunchConsent(0)},
		{"RememberedKind", "Remembered", int(event.RememberedApproval), mcphubv1.RememberedKind(0)},
	} {
		values, constants := c.enum.Descriptor().Values(), eventConstants(t, c.typeName)
		if len(constants) != values.Len()-1 { // without UNSPECIFIED
			t.Errorf("%s has %d constants, the contract %d values", c.typeName, len(constants), values.Len()-1)
		}
		for i, name := range constants {
			value := values.ByNumber(protoreflect.EnumNumber(c.first + i))
			if value == nil || !strings.HasSuffix(strings.ReplaceAll(strings.ToLower(string(value.Name())), "_", ""),
				strings.ToLower(strings.TrimPrefix(name, c.prefix))) {
				t.Errorf("%s has the number of %v", name, value)
			}
		}
	}
	enums := 0
	for _, f := range []protoreflect.FileDescriptor{
		mcphubv1.File_mcphub_v1_editor_proto, mcphubv1.File_mcphub_v1_hub_proto, mcphubv1.File_mcphub_v1_prompt_proto,
		mcphubv1.File_mcphub_v1_request_proto, mcphubv1.File_mcphub_v1_server_proto,
	} {
		enums += f.Enums().Len()
	}
	// Two are not checked above: HubConnectionState, which a host sends to its page, and ReadRequest's RequestPart.
	if enums != 18 {
		t.Errorf("the contract has %d enums, this test knows 18", enums)
	}
	for scope, want := range map[mcphubv1.ApprovalScope]event.ApprovalScope{0: event.ScopeOnce,
		mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE:      event.ScopeOnce,
		mcphubv1.ApprovalScope_APPROVAL_SCOPE_WORKSPACE: event.ScopeWorkspace} {
		answer := promptAnswer(&mcphubv1.PromptAnswer{Action: &mcphubv1.PromptAnswer_Accept{
			Accept: &mcphubv1.AcceptPrompt{Scope: scope}}})
		if answer.Scope != want {
			t.Errorf("%v means %v, want %v", scope, answer.Scope, want)
		}
	}
}

// fill sets every field below v, so that a field which a conversion forgets shows as missing.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1700000000, 0)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	}
}

// unset lists the fields below m that have their zero value; one branch of a oneof is enough.
func unset(m protoreflect.Message, path string) (missing []string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		name := path + "." + string(f.Name())
		if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() && m.WhichOneof(o) != f {
			if m.WhichOneof(o) == nil {
				missing = append(missing, path+"."+string(o.Name()))
			}
			continue
		}
		switch {
		case !m.Has(f):
			missing = append(missing, name)
		case strings.HasPrefix(string(f.ParentFile().Package()), "google."):
		case f.IsList() && f.Message() != nil:
			missing = append(missing, unset(m.Get(f).List().Get(0).Message(), name)...)
		case f.Message() != nil && !strings.HasPrefix(string(f.Message().FullName()), "google."):
			missing = append(missing, unset(m.Get(f).Message(), name)...)
		}
	}
	return missing
}

func filled[T any]() T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), 0)
	return v
}

// No field of the contract is forgotten: a hub struct with everything set gives a message with everything set.
func TestConversionFillsEveryField(t *testing.T) {
	var c converter
	check := func(name string, m proto.Message, except ...string) {
		t.Helper()
		allowed := map[string]bool{}
		for _, e := range except {
			allowed[e] = true
		}
		for _, field := range unset(m.ProtoReflect(), name) {
			if !allowed[field] {
				t.Errorf("%s is not set", field)
			}
		}
	}
	check("server", c.server(filled[event.ServerInfo]()))
	check("tool", c.tool(filled[event.ToolInfo]()))
	check("request", c.request(filled[event.RequestInfo]()))
	for _, end := range []event.Body{new(filled[event.RequestCancelled]()), new(filled[event.RequestFinished]())} {
		snapshot := filled[event.Snapshot]()
		snapshot.History[0].Body = end
		check("snapshot", c.snapshot(&snapshot), "snapshot.history.cancelled.server_notified") // true for one delivery
	}
	for kind := event.PromptToolApproval; kind <= event.PromptConfigInput; kind++ {
		p := filled[event.PromptInfo]()
		p.Kind = kind
		check(kind.String(), c.prompt(p))
	}
	result := filled[hub.CallResult]()
	check("remembered", c.remembered(filled[event.Remembered]()))
	trace := filled[event.TraceInfo]()
	check("trace", c.trace(trace))
	entry := trace.Entries[0]
	for name, e := range map[string]event.TraceEntry{
		"message": {Time: entry.Time, Message: entry.Message}, "cancellation": {Time: entry.Time,
			Cancellation: entry.Cancellation},
		"prompt": {Time: entry.Time, Prompt: entry.Prompt}, "error": {Time: entry.Time, Err: entry.Err},
		"delivery": {Time: entry.Time, Sending: entry.Sending},
	} {
		check("trace "+name, c.traceEntry(e))
	}
	const view = ".view" // set only if the call asked for a view
	check("error result", c.callResult(&result), "error result"+view)
	check("resource", c.resource(filled[event.ResourceInfo]()))
	check("resource template", c.resourceTemplate(filled[event.ResourceTemplateInfo]()))
	check("prompt template", c.mcpPrompt(filled[event.McpPromptInfo]()))
	check("read error", c.readResult(&result))
	check("prompt error", c.promptResult(&result))
	check("completion error", c.completionResult(&result))
	result.Error = nil
	check("result", c.callResult(&result), "result"+view)
	check("read", c.readResult(&result))
	check("prompt", c.promptResult(&result))
	check("completion", c.completionResult(&result))
	bodies := []event.Body{
		new(filled[event.ServerChanged]()), new(filled[event.ToolsChanged]()), new(filled[event.ResourcesChanged]()),
		new(filled[event.McpPromptsChanged]()), new(filled[event.ResourceUpdated]()), new(filled[event.RequestStarted]()),
		new(filled[event.RequestProgressed]()),
		new(filled[event.RequestCancelling]()), new(filled[event.RequestCancelled]()),
		new(filled[event.RequestCancelDelivery]()), new(filled[event.RequestAnsweredLate]()),
		new(filled[event.RequestFinished]()), new(filled[event.PromptOpened]()),
		new(filled[event.PromptClosed]()), new(filled[event.LogMessage]()), new(filled[event.ConfigReloaded]()),
	}
	seen := map[protoreflect.Name]bool{}
	for _, b := range bodies {
		m := c.event(b)
		oneof := m.ProtoReflect().Descriptor().Oneofs().ByName("event")
		field := m.ProtoReflect().WhichOneof(oneof)
		if field == nil {
			t.Errorf("%T is not converted", b)
			continue
		}
		seen[field.Name()] = true
		name := string(field.Name())
		check(name, m, name+".time", name+".mcp_request_cancelled.server_notified")
	}
	for _, ours := range []protoreflect.Name{"welcome", "snapshot", "reply", "dropped"} {
		seen[ours] = true // made by the services themselves
	}
	for _, hosts := range []protoreflect.Name{"hub_connection", "reveal_prompt", "open_add_server", "open"} {
		seen[hosts] = true // made by a host that relays the stream
	}
	events := (&mcphubv1.AttachResponse{}).ProtoReflect().Descriptor().Oneofs().ByName("event").Fields()
	for i := range events.Len() {
		if !seen[events.Get(i).Name()] {
			t.Errorf("no event of the hub becomes %s", events.Get(i).Name())
		}
	}
}

func TestConversionOut(t *testing.T) {
	var c converter
	at := time.Date(2026, 7, 28, 1, 2, 3, 4, time.UTC)
	total := 10.5
	got := c.request(event.RequestInfo{
		ID: "r", Server: "s", Direction: event.Incoming, Method: "sampling/createMessage", State: event.StateCancelling,
		ParentRequestID: "p", Start: at,
		WireID: `"1"`, Progress: &event.Progress{Progress: 1.5, Total: &total, Message: "half"}, OpenPromptIDs: []string{"q"},
		Cancellation: &event.Cancellation{Origin: event.OriginUser, Reason: "why", Time: at},
	})
	want := &mcphubv1.Request{
		RequestId: "r", Server: "s", Direction: mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING,
		Method: "sampling/createMessage",
		State:  mcphubv1.RequestState_REQUEST_STATE_CANCELLING, ParentRequestId: "p", StartTime: timestamppb.New(at),
		WireIdJson:    `"1"`,
		Progress:      &mcphubv1.Progress{Progress: 1.5, Total: proto.Float64(10.5), Message: "half"},
		OpenPromptIds: []string{"q"},
		Cancellation:  &mcphubv1.Cancellation{Origin: mcphubv1.Origin_ORIGIN_USER, Reason: "why", Time: timestamppb.New(at)},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if got := c.prompt(event.PromptInfo{Kind: event.PromptSampling,
		Question: &event.Question{}}); got.GetDeadline() != nil ||
		got.GetOpenTime() != nil {
		t.Errorf("no deadline became %v", got)
	}
	if got := c.request(event.RequestInfo{}); got.GetProgress() != nil || got.GetCancellation() != nil ||
		got.GetStartTime() != nil {
		t.Errorf("nothing became something: %v", got)
	}
}

// JSON travels byte for byte: spelling, order, blanks, doubled keys and large numbers.
func TestJSONByteForByte(t *testing.T) {
	var c converter
	text := "{ \"b\":1.0, \"a\":12345678901234567890,\"a\":1e2,\"t\":\"\\u0041\\/\u2028\u00e9\"}\t"
	if got := c.callResult(&hub.CallResult{Result: json.RawMessage(text)}).GetResultJson(); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
	if got := callRequest(t.Context(), &mcphubv1.CallToolRequest{ArgumentsJson: text,
		MetaJson: text}); got.Arguments != text || got.Meta != text {
		t.Errorf("got %+v", got)
	}
}

func TestConversionIn(t *testing.T) {
	zero := time.Duration(0)
	got := callRequest(t.Context(), &mcphubv1.CallToolRequest{
		RequestId: "r", Server: "s", Tool: "t", ArgumentsJson: "{}", MetaJson: `{"m":1}`, Preapproved: true,
		TaskLabel: "l", OwnerWindowId: "w", Caller: "an extension",
		Timeouts: &mcphubv1.Timeouts{Idle: durationpb.New(0), Total: durationpb.New(time.Minute)},
	})
	want := hub.CallRequest{
		ID: "r", Server: "s", Tool: "t", Arguments: "{}", Meta: `{"m":1}`, Preapproved: true,
		TaskLabel: "l", OwnerWindowID: "w", CallerName: "an extension",
		Timeouts: hub.Timeouts{Idle: &zero, Total: new(time.Minute)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
	if d := clock(&durationpb.Duration{Seconds: math.MaxInt64}); *d <= 0 {
		t.Errorf("a very long time became %v", *d)
	}
	answers := map[*mcphubv1.PromptAnswer]event.PromptAnswer{
		{PromptId: "p",
			Action: &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{Scope: mcphubv1.ApprovalScope_APPROVAL_SCOPE_ALWAYS, ContentJson: "{}"}}}: {PromptID: "p", Action: event.ActionAccept, Scope: event.ScopeAlways, Content: "{}"},
		{PromptId: "p",
			Action: &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{RequestJson: "{}"}}}: {PromptID: "p",
			Action: event.ActionAccept, Scope: event.ScopeOnce, Edited: "{}"},
		{PromptId: "p",
			Action: &mcphubv1.PromptAnswer_Accept{}}: {PromptID: "p", Action: event.ActionAccept, Scope: event.ScopeOnce},
		{PromptId: "p",
			Action: &mcphubv1.PromptAnswer_Decline{Decline: &mcphubv1.DeclinePrompt{Reason: "no"}}}: {PromptID: "p",
			Action: event.ActionDecline, Reason: "no"},
		{PromptId: "p",
			Action: &mcphubv1.PromptAnswer_Dismiss{}}: {PromptID: "p", Action: event.ActionDismiss},
	}
	for m, want := range answers {
		if diff := cmp.Diff(want, promptAnswer(m)); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	}
	sources := configSources([]*mcphubv1.ConfigSource{{Path: "a", Json: "{}", Scope: "user"},
		{Path: "b", Dialect: "roo", Folder: "/w", Trusted: true}})
	if diff := cmp.Diff([]hub.ConfigSource{{Path: "a", JSON: "{}", Scope: "user"},
		{Path: "b", Scope: "workspace", Dialect: "roo", Folder: "/w", Trusted: true}}, sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if configSources(nil) != nil {
		t.Error("no sources must stay nil: the same as last time")
	}
}

func TestInvalidUTF8Replaced(t *testing.T) {
	replaced := 0
	c := converter{onReplaced: func() { replaced++ }}
	m := c.callResult(&hub.CallResult{RequestID: "r", Result: json.RawMessage("{\"a\":\"\xff\xfe\",\"b\":\"\u00e9\"}")})
	if got, want := m.GetResultJson(), "{\"a\":\"\uFFFD\",\"b\":\"\u00e9\"}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if replaced != 1 {
		t.Errorf("%d texts were counted, want 1", replaced)
	}
	if got := c.text("fine \u00e9 \U0001F600"); got != "fine \u00e9 \U0001F600" || replaced != 1 {
		t.Errorf("valid text became %q, counted %d", got, replaced)
	}
	// Whatever text the hub holds, the message can be encoded.
	for _, body := range []event.Body{
		&event.LogMessage{Server: "\xff", Level: "\xff", Logger: "\xff", Data: "\xff"},
		&event.RequestFinished{RequestID: "\xff", Result: "\xff", McpError: &event.McpError{Message: "\xff", Data: "\xff"},
			Err: &event.Error{Message: "\xff"}},
		&event.PromptOpened{Prompt: event.PromptInfo{Kind: event.PromptElicitationURL,
			Question: &event.Question{Message: "\xff", URL: "\xff", URLHost: "\xff", Payload: json.RawMessage("\xff")}}},
		&event.PromptClosed{PromptID: "\xff", Reason: "\xff"},
		&event.ServerChanged{Server: event.ServerInfo{Name: "\xff", Stderr: []string{"\xff"},
			Problems: []event.ConfigProblem{{Message: "\xff"}}}},
	} {
		_, err := proto.Marshal(c.event(body))
		if err != nil {
			t.Errorf("%T: %v", body, err)
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

// Each kind of trace entry is converted to its field of the contract.
func TestTraceConversion(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var c converter
	got := c.trace(event.TraceInfo{
		Request: event.RequestInfo{ID: "r1", Server: "s", Method: "tools/call", State: event.StateDone}, Omitted: 3,
		TraceID: "abc",
		Entries: []event.TraceEntry{
			{Time: at, State: event.StateRunning},
			{Time: at, Message: &event.TraceMessage{Direction: event.Outgoing, Type: "request", Method: "tools/call",
				WireID: "7",
				Bytes:  99}},
			{Time: at, Message: &event.TraceMessage{Direction: event.Incoming, Type: "error", Method: "tools/call", WireID: "7",
				Bytes: 9, ErrorCode: -32000, Dropped: true}},
			{Time: at, Cancellation: &event.Cancellation{Origin: event.OriginUser, Reason: "no", Time: at}},
			{Time: at, Prompt: &event.TracePrompt{PromptID: "prompt-1", Kind: event.PromptSampling,
				Cause: event.CauseWithdrawn}},
			{Time: at, Err: &event.Error{Code: event.CodeCancelled, Reason: "CANCELLED", Message: "cancelled"}},
		},
	})
	want := new(mcphubv1.Trace)
	if err := protojson.Unmarshal([]byte(`{"request":{"requestId":"r1","server":"s","method":"tools/call","state":"REQUEST_STATE_DONE"},"omittedEntries":3,"traceId":"abc","entries":[
		{"time":"2026-01-02T03:04:05.000000006Z","state":{"state":"REQUEST_STATE_RUNNING"}},
		{"time":"2026-01-02T03:04:05.000000006Z","message":{"direction":"REQUEST_DIRECTION_OUTGOING","type":"request","method":"tools/call","wireIdJson":"7","sizeBytes":99}},
		{"time":"2026-01-02T03:04:05.000000006Z","message":{"direction":"REQUEST_DIRECTION_INCOMING","type":"error","method":"tools/call","wireIdJson":"7","sizeBytes":9,"errorCode":-32000,"dropped":true}},
		{"time":"2026-01-02T03:04:05.000000006Z","cancellation":{"origin":"ORIGIN_USER","reason":"no","time":"2026-01-02T03:04:05.000000006Z"}},
		{"time":"2026-01-02T03:04:05.000000006Z","prompt":{"promptId":"prompt-1","kind":"PROMPT_KIND_SAMPLING","cause":"PROMPT_CAUSE_WITHDRAWN"}},
		{"time":"2026-01-02T03:04:05.000000006Z","hubError":{"code":"CANCELLED","reason":"CANCELLED","message":"cancelled"}}]}`), want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
