package mcphubv1

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"
)

// This file is written by hand, as validate.go is: the checks of the requests about resources, prompt templates,
// completion and sign-in.

const (
	maxArguments  = 256     // elements
	maxArgument   = 1 << 20 // bytes
	maxExtensions = 64 << 10
)

// hostRequest is what the requests that a host may name have in common.
type hostRequest interface {
	GetRequestId() string
	GetServer() string
	GetMetaJson() string
	GetTimeouts() *Timeouts
	GetTaskLabel() string
	GetOwnerWindowId() string
}

func hosted(x hostRequest) error {
	limit := func(name string, d *durationpb.Duration) error { return clock("timeouts."+name, d) }
	return first(
		id("request_id", x.GetRequestId()),
		required("server", x.GetServer(), maxName),
		atMost("meta_json", x.GetMetaJson(), maxMeta),
		limit("idle", x.GetTimeouts().GetIdle()),
		limit("total", x.GetTimeouts().GetTotal()),
		limit("human", x.GetTimeouts().GetHuman()),
		label("task_label", x.GetTaskLabel()),
		id("owner_window_id", x.GetOwnerWindowId()),
	)
}

// Validate implements the validator of the gRPC server.
func (x *ListResourcesRequest) Validate() error { return listed(x) }

// Validate implements the validator of the gRPC server.
func (x *ListResourceTemplatesRequest) Validate() error { return listed(x) }

// Validate implements the validator of the gRPC server.
func (x *ReadResourceRequest) Validate() error {
	return first(hosted(x), required("uri", x.GetUri(), maxURI))
}

// Validate implements the validator of the gRPC server.
func (x *SubscribeResourceRequest) Validate() error {
	return first(required("server", x.GetServer(), maxName), required("uri", x.GetUri(), maxURI))
}

// Validate implements the validator of the gRPC server.
func (x *UnsubscribeResourceRequest) Validate() error {
	return first(required("server", x.GetServer(), maxName), required("uri", x.GetUri(), maxURI))
}

// Validate implements the validator of the gRPC server.
func (x *ListMcpPromptsRequest) Validate() error { return listed(x) }

func listed(x interface {
	GetServer() string
	GetQuery() string
	GetLimit() int32
}) error {
	err := first(required("server", x.GetServer(), maxName), atMost("query", x.GetQuery(), maxName))
	if x.GetLimit() < 0 {
		err = first(err, errors.New("limit: must not be negative"))
	}
	return err
}

// Validate implements the validator of the gRPC server.
func (x *ExpandUriTemplateRequest) Validate() error {
	return first(required("uri_template", x.GetUriTemplate(), maxURI), values("values", x.GetValues()))
}

// Validate implements the validator of the gRPC server.
func (x *GetMcpPromptRequest) Validate() error {
	return first(hosted(x), required("name", x.GetName(), maxName), values("arguments", x.GetArguments()))
}

// Validate implements the validator of the gRPC server.
func (x *CompleteRequest) Validate() error {
	err := required("server", x.GetServer(), maxName)
	switch ref := x.GetReference().(type) {
	case *CompleteRequest_McpPrompt:
		err = first(err, required("mcp_prompt", ref.McpPrompt, maxName))
	case *CompleteRequest_UriTemplate:
		err = first(err, required("uri_template", ref.UriTemplate, maxURI))
	default:
		err = first(err, errors.New("reference: set one of mcp_prompt and uri_template"))
	}
	return first(err, required("argument", x.GetArgument(), maxName), atMost("value", x.GetValue(), maxArgument),
		values("context", x.GetContext()))
}

// Validate implements the validator of the gRPC server.
func (x *SignInRequest) Validate() error { return required("server", x.GetServer(), maxName) }

// Validate implements the validator of the gRPC server.
func (x *SignOutRequest) Validate() error { return required("server", x.GetServer(), maxName) }

func values(field string, of map[string]string) error {
	if len(of) > maxArguments {
		return fmt.Errorf("%s: more than %d", field, maxArguments)
	}
	for name, value := range of {
		if err := first(required("name", name, maxName), atMost("value", value, maxArgument)); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	return nil
}

// extensions checks what a window says that it can show of MCP's extensions.
func extensions(field, text string) error {
	if text == "" {
		return nil
	}
	if err := atMost(field, text, maxExtensions); err != nil {
		return err
	}
	var of map[string]map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &of) != nil || of == nil {
		return fmt.Errorf("%s: must be a JSON object whose members are objects", field)
	}
	for name := range of {
		if !strings.Contains(name, "/") {
			return fmt.Errorf("%s: an extension is named with its prefix, like io.modelcontextprotocol/ui", field)
		}
	}
	return nil
}
