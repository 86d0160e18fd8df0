package ipc

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Each unary method of the contract says what it is for a window, and those of hosts are refused to windows.
func TestEveryMethodHasAnOrdering(t *testing.T) {
	known := map[string]bool{}
	protoregistry.GlobalFiles.RangeFilesByPackage("mcphub.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				if m := file.Services().Get(i).Methods().Get(j); !m.IsStreamingClient() {
					known["/"+string(m.Parent().FullName())+"/"+string(m.Name())] = true
				}
			}
		}
		return true
	})
	for path := range known {
		if _, has := orderings[path]; !has {
			t.Errorf("%s has none", path)
		}
	}
	for path := range orderings {
		if !known[path] {
			t.Errorf("there is no method %s", path)
		}
	}
	if len(known) < 40 {
		t.Errorf("%d methods", len(known))
	}
}

// A call that is not well-formed is refused, with an error that names what is wrong. The window stays attached.
func TestCallsThatAreRefused(t *testing.T) {
	pack := func(m proto.Message) *anypb.Any {
		packed, err := anypb.New(m)
		if err != nil {
			t.Fatal(err)
		}
		return packed
	}
	const list, call = mcphubv1.McpServerService_ListTools_FullMethodName, mcphubv1.McpHubService_CallTool_FullMethodName
	tool := &mcphubv1.CallToolRequest{Server: "s", Tool: "t"}
	broken := pack(tool)
	broken.Value = []byte{0xff}
	for name, row := range map[string]struct {
		method string
		in     *anypb.Any
		text   string
		reason string // "": INVALID_REQUEST
	}{
		"no method":          {"", pack(tool), `no method ""`, ""},
		"unknown method":     {"/mcphub.v1.McpHubService/None", nil, "None", ""},
		"without the slash":  {list[1:], nil, "no method", ""},
		"a stream":           {mcphubv1.EditorService_Attach_FullMethodName, nil, "Attach", ""},
		"other message":      {list, pack(tool), "CallToolRequest", ""},
		"unknown message":    {call, &anypb.Any{TypeUrl: "x/y.Z"}, "x/y.Z", ""},
		"no message":         {call, nil, "call.request:", ""},
		"a huge method":      {"/" + strings.Repeat("x", 8<<20), nil, "no method", ""},
		"a huge type":        {call, &anypb.Any{TypeUrl: "x/" + strings.Repeat("y", 8<<20)}, "call.request:", ""},
		"broken message":     {call, broken, "call.request:", ""},
		"fails its check":    {call, pack(&mcphubv1.CallToolRequest{Server: "s"}), "tool:", ""},
		"name for models":    {call, pack(&mcphubv1.CallToolRequest{ModelName: "m"}), "for hosts", ""},
		"drain":              {mcphubv1.McpHubService_Drain_FullMethodName, nil, "host", reasonMethodOfHosts},
		"config with scopes": {mcphubv1.McpServerService_ReloadConfig_FullMethodName, nil, "host", reasonMethodOfHosts},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &fakeHub{call: func(context.Context, hub.CallRequest) (*hub.CallResult, error) {
					t.Error("the call has reached the hub")
					return nil, context.Canceled
				}}
				w := fakeeditor.Open(t.Context(), serve(t, h, Options{}), fakeeditor.Options{TB: t})
				e := w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Call{
					Call: &mcphubv1.Call{Method: row.method, Request: row.in}}}).GetError()
				if e.GetReason() != cmp.Or(row.reason, event.ReasonInvalidRequest) || !strings.Contains(e.GetMessage(), row.text) ||
					len(e.GetMessage()) > 2048 {
					t.Errorf("%v", e)
				}
				if r := w.Ask(callOf("", &mcphubv1.GetInfoRequest{})); responseOf[*mcphubv1.GetInfoResponse](r).GetHubId() == "" {
					t.Errorf("afterwards: %v", r)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
