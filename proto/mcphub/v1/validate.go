package mcphubv1

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

// This file is written by hand. The Validate methods are called for each message of a host before it reaches a service;
// they check form only, and their errors name the field. Whether a server, tool or request exists is for the hub to
// say.

// Bounds on what a host sends, in bytes unless named otherwise.
const (
	maxID      = 128 // ids of requests, windows, prompts, messages, hubs
	maxName    = 1024
	maxLabel   = 256
	maxReason  = 64 << 10 // cut to 256 characters by the hub
	maxURI     = 8 << 10
	maxMeta    = 1 << 20
	maxContent = 16 << 20
	maxKinds   = 64   // elements
	maxRoots   = 1024 // elements
	maxSources = 256  // elements
	maxForget  = 4096 // elements
	maxRate    = 20   // progress events a second
	maxHistory = 1000 // elements
)

// Validate implements the validator of the gRPC server.
func (x *CallToolRequest) Validate() error {
	return first(
		id("request_id", x.GetRequestId()),
		x.toCall(),
		atMost("meta_json", x.GetMetaJson(), maxMeta),
		clock("timeouts.idle", x.GetTimeouts().GetIdle()),
		clock("timeouts.total", x.GetTimeouts().GetTotal()),
		clock("timeouts.human", x.GetTimeouts().GetHuman()),
		label("task_label", x.GetTaskLabel()),
		id("owner_window_id", x.GetOwnerWindowId()),
		label("caller", x.GetCaller()),
	)
}

// toCall checks what is called: a tool of a server, or one by its name for models.
func (x *CallToolRequest) toCall() error {
	if x.GetModelName() == "" {
		return first(required("server", x.GetServer(), maxName), required("tool", x.GetTool(), maxName))
	}
	if x.GetServer() != "" || x.GetTool() != "" {
		return errors.New("model_name: stands in place of server and tool")
	}
	return atMost("model_name", x.GetModelName(), maxName)
}

// Validate implements the validator of the gRPC server.
func (x *CancelRequestRequest) Validate() error {
	return first(
		requiredID("request_id", x.GetRequestId()),
		atMost("reason", x.GetReason(), maxReason),
		atMost("server", x.GetServer(), maxName),
	)
}

// Validate implements the validator of the gRPC server.
func (x *CancelRequestsRequest) Validate() error {
	var err error
	switch scope := x.GetScope().(type) {
	case *CancelRequestsRequest_Server:
		err = required("server", scope.Server, maxName)
	case *CancelRequestsRequest_TaskLabel:
		err = first(required("task_label", scope.TaskLabel, maxLabel), label("task_label", scope.TaskLabel))
	case *CancelRequestsRequest_All:
		if !scope.All {
			err = errors.New("all: must be true when it is set")
		}
	default:
		err = errors.New("scope: set one of server, task_label and all")
	}
	return first(err, atMost("reason", x.GetReason(), maxReason))
}

// Validate implements the validator of the gRPC server.
func (x *ListRequestsRequest) Validate() error { return atMost("server", x.GetServer(), maxName) }

// Validate implements the validator of the gRPC server.
func (x *DrainRequest) Validate() error { return atMost("reason", x.GetReason(), maxReason) }

// Validate implements the validator of the gRPC server.
func (x *StartServerRequest) Validate() error { return required("server", x.GetServer(), maxName) }

// Validate implements the validator of the gRPC server.
func (x *StopServerRequest) Validate() error {
	return first(required("server", x.GetServer(), maxName), atMost("reason", x.GetReason(), maxReason))
}

// Validate implements the validator of the gRPC server.
func (x *RestartServerRequest) Validate() error {
	return first(required("server", x.GetServer(), maxName), atMost("reason", x.GetReason(), maxReason))
}

// Validate implements the validator of the gRPC server.
func (x *SetServerEnabledRequest) Validate() error { return required("server", x.GetServer(), maxName) }

// Validate checks the request.
func (x *MuteServerRequest) Validate() error { return required("server", x.GetServer(), maxName) }

// The dialects of config files; empty leaves it to the hub.
var dialects = []string{"", "vscode", "portable", "roo", "cline", "claude-desktop", "cursor", "gemini", "codex",
	"opencode", "crush", "mcpServers"}

// Validate implements the validator of the gRPC server.
func (x *ReloadConfigRequest) Validate() error {
	if len(x.GetSources()) > maxSources {
		return fmt.Errorf("sources: more than %d", maxSources)
	}
	for i, s := range x.GetSources() {
		err := atMost("path", s.GetPath(), maxURI)
		if s.GetPath() == "" && s.GetJson() == "" {
			err = errors.New("path: a source needs a path or json")
		}
		if !slices.Contains([]string{"", "user", "workspace", "host"}, s.GetScope()) {
			err = first(err, errors.New(`scope: must be "user", "workspace", "host" or empty`))
		}
		if !slices.Contains(dialects, s.GetDialect()) {
			err = first(err, errors.New("dialect: must be empty or one of "+strings.Join(dialects[1:], ", ")))
		}
		err = first(err, atMost("folder", s.GetFolder(), maxURI))
		if err != nil {
			return fmt.Errorf("sources[%d].%w", i, err)
		}
	}
	return nil
}

// Validate implements the validator of the gRPC server.
func (x *ListToolsRequest) Validate() error { return atMost("server", x.GetServer(), maxName) }

// Validate implements the validator of the gRPC server.
func (x *ListRememberedRequest) Validate() error { return atMost("server", x.GetServer(), maxName) }

// Validate implements the validator of the gRPC server.
func (x *ForgetRequest) Validate() error {
	if len(x.GetRememberedIds()) > maxForget {
		return fmt.Errorf("remembered_ids: more than %d", maxForget)
	}
	for i, id := range x.GetRememberedIds() {
		if err := required(fmt.Sprintf("remembered_ids[%d]", i), id, maxLabel); err != nil {
			return err
		}
	}
	return nil
}

// Validate implements the validator of the gRPC server.
func (x *GetTraceRequest) Validate() error {
	err := first(id("request_id", x.GetRequestId()), atMost("server", x.GetServer(), maxName))
	if x.GetMaxTraces() < 0 {
		err = first(err, errors.New("max_traces: must not be negative"))
	}
	return err
}

// The levels of MCP's logging/setLevel.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Validate implements the validator of the gRPC server.
func (x *SetLogLevelRequest) Validate() error {
	err := required("server", x.GetServer(), maxName)
	if !slices.Contains(levels, x.GetLevel()) {
		err = first(err, errors.New("level: must be one of "+strings.Join(levels, ", ")))
	}
	return err
}

// Check is the check of one message of a window. It is deliberately not called Validate: an error of the validator ends
// the whole stream, while a window should survive one bad message. The service calls it and replies.
func (x *AttachRequest) Check() error {
	if err := id("message_id", x.GetMessageId()); err != nil {
		return err
	}
	switch m := x.GetMessage().(type) {
	case *AttachRequest_Hello:
		return within("hello", m.Hello.Validate())
	case *AttachRequest_CancelMcpRequest:
		return within("cancel_mcp_request", m.CancelMcpRequest.Validate())
	case *AttachRequest_AnswerPrompt:
		return within("answer_prompt", m.AnswerPrompt.Validate())
	case *AttachRequest_SetRoots:
		return within("set_roots", m.SetRoots.Validate())
	case *AttachRequest_SetCapabilities:
		return within("set_capabilities", m.SetCapabilities.Validate())
	case *AttachRequest_GiveUp:
		return within("give_up", requiredID("message_id", m.GiveUp.GetMessageId()))
	case *AttachRequest_Call: // the service, which knows the methods, checks the request
		return nil
	case *AttachRequest_PromptsInView, *AttachRequest_ChooseBundle, *AttachRequest_CloseWindow:
		return nil
	}
	return errors.New("message: none is set, or one that this hub does not know")
}

// Validate implements the validator of the gRPC server.
func (x *ReadRequestRequest) Validate() error {
	err := first(requiredID("request_id", x.GetRequestId()), known("part", x.GetPart()))
	if x.GetPart() == RequestPart_REQUEST_PART_UNSPECIFIED {
		err = first(err, errors.New("part: set one"))
	}
	if x.GetOffset() < 0 {
		err = first(err, errors.New("offset: must not be negative"))
	}
	return err
}

// Validate checks a hello.
func (x *Hello) Validate() error {
	err := first(
		id("window_id", x.GetWindowId()),
		label("title", x.GetTitle()),
		label("acts_for", x.GetActsFor()),
		kinds("prompt_kinds", x.GetPromptKinds()),
		roots(x.GetRoots()),
		id("comes_back_to", x.GetComesBackTo()),
		extensions("extensions_json", x.GetExtensionsJson()),
	)
	if rate := x.GetMaxProgressRate(); rate < 0 || rate > maxRate {
		err = first(err, fmt.Errorf("max_progress_rate: %d is not between 0 and %d", rate, maxRate))
	}
	if n := x.GetMaxHistory(); n < 0 || n > maxHistory {
		err = first(err, fmt.Errorf("max_history: %d is not between 0 and %d", n, maxHistory))
	}
	return err
}

// Validate checks a press on the Cancel button.
func (x *CancelMcpRequest) Validate() error {
	return first(requiredID("request_id", x.GetRequestId()), atMost("reason", x.GetReason(), maxReason))
}

// Validate checks a click on a prompt.
func (x *PromptAnswer) Validate() error {
	err := requiredID("prompt_id", x.GetPromptId())
	switch action := x.GetAction().(type) {
	case *PromptAnswer_Accept:
		return first(err, known("accept.scope", action.Accept.GetScope()),
			atMost("accept.content_json", action.Accept.GetContentJson(), maxContent),
			atMost("accept.request_json", action.Accept.GetRequestJson(), maxContent),
			atMost("accept.launch_hash", action.Accept.GetLaunchHash(), maxLabel))
	case *PromptAnswer_Decline:
		return first(err, atMost("decline.reason", action.Decline.GetReason(), maxReason))
	case *PromptAnswer_Dismiss:
		return err
	}
	return first(err, errors.New("action: set one of accept, decline and dismiss"))
}

// Validate checks a list of workspace folders.
func (x *SetRoots) Validate() error { return roots(x.GetRoots()) }

// Validate checks what a window can show.
func (x *SetCapabilities) Validate() error {
	return first(kinds("prompt_kinds", x.GetPromptKinds()), extensions("extensions_json", x.GetExtensionsJson()))
}

// first gives the first error there is.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// within puts the name of the message before the name of the field.
func within(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s.%w", field, err)
}

func atMost(field, s string, n int) error {
	if len(s) > n {
		return fmt.Errorf("%s: longer than %d bytes", field, n)
	}
	return nil
}

func required(field, s string, n int) error {
	if s == "" {
		return fmt.Errorf("%s: must not be empty", field)
	}
	return atMost(field, s, n)
}

func printable(field, s string) error {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%s: holds the character %U, which cannot be printed", field, r)
		}
	}
	return nil
}

func label(field, s string) error { return first(atMost(field, s, maxLabel), printable(field, s)) }

func id(field, s string) error { return first(atMost(field, s, maxID), printable(field, s)) }

func requiredID(field, s string) error { return first(required(field, s, maxID), id(field, s)) }

// clock allows zero, which means no limit.
func clock(field string, d *durationpb.Duration) error {
	if d == nil {
		return nil
	}
	if err := d.CheckValid(); err != nil {
		return fmt.Errorf("%s: is no valid duration", field)
	}
	if d.AsDuration() < 0 {
		return fmt.Errorf("%s: must not be negative", field)
	}
	return nil
}

// known refuses numbers that are not in the contract: proto3 lets them through.
func known(field string, v protoreflect.Enum) error {
	if v.Descriptor().Values().ByNumber(v.Number()) == nil {
		return fmt.Errorf("%s: %d is not known", field, v.Number())
	}
	return nil
}

func kinds(field string, ks []PromptKind) error {
	if len(ks) > maxKinds {
		return fmt.Errorf("%s: more than %d", field, maxKinds)
	}
	for i, k := range ks {
		name := fmt.Sprintf("%s[%d]", field, i)
		if k == PromptKind_PROMPT_KIND_UNSPECIFIED {
			return fmt.Errorf("%s: must be specified", name)
		}
		if err := known(name, k); err != nil {
			return err
		}
	}
	return nil
}

func roots(rs []*Root) error {
	if len(rs) > maxRoots {
		return fmt.Errorf("roots: more than %d", maxRoots)
	}
	for i, r := range rs {
		if err := first(required("uri", r.GetUri(), maxURI), atMost("name", r.GetName(), maxName)); err != nil {
			return fmt.Errorf("roots[%d].%w", i, err)
		}
	}
	return nil
}
