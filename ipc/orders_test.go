package ipc

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
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

// An error of the hub reaches hosts and windows from each method with code, reason and metadata; a request that lacks a
// field is refused before the hub sees it, and so is an order of a window with too much under way.
func TestErrorsOfEveryMethod(t *testing.T) {
	for method, request := range map[string]string{
		"CallTool":              `{"server":"s","tool":"t"}`,
		"CancelRequest":         `{"requestId":"r"}`,
		"ReadRequest":           `{"requestId":"r","part":"REQUEST_PART_RESULT"}`,
		"StartServer":           `{"server":"s"}`,
		"StopServer":            `{"server":"s"}`,
		"RestartServer":         `{"server":"s"}`,
		"SetServerEnabled":      `{"server":"s"}`,
		"MuteServer":            `{"server":"s"}`,
		"SignIn":                `{"server":"s"}`,
		"SignOut":               `{"server":"s"}`,
		"SetLogLevel":           `{"server":"s","level":"debug"}`,
		"ListResources":         `{"server":"s"}`,
		"ListResourceTemplates": `{"server":"s"}`,
		"ReadResource":          `{"server":"s","uri":"a:b"}`,
		"SubscribeResource":     `{"server":"s","uri":"a:b"}`,
		"UnsubscribeResource":   `{"server":"s","uri":"a:b"}`,
		"ListMcpPrompts":        `{"server":"s"}`,
		"GetMcpPrompt":          `{"server":"s","name":"p"}`,
		"Complete":              `{"server":"s","argument":"a","mcpPrompt":"p"}`,
		"ListTools":             "", // nothing has to be in it
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &fakeHub{}
				s := &stage{t: t, fake: h, conn: serve(t, h, Options{})}
				w := fakeeditor.Open(t.Context(), s.conn, fakeeditor.Options{TB: t})
				path, empty, out := s.messages(method)
				full := proto.Clone(empty)
				if request != "" {
					s.must(protojson.Unmarshal([]byte(request), full))
				}
				h.failure = &event.Error{Code: event.CodeFailedPrecondition, Reason: event.ReasonSignInDeclined, Message: "no",
					Meta: map[string]string{"server_may_continue": "true"}}
				want := `FAILED_PRECONDITION SIGN_IN_DECLINED: no {"server_may_continue":"true"}`
				if err := s.conn.Invoke(t.Context(), path, full, out); statusWords(err) != want {
					t.Errorf("a host got %s", statusWords(err))
				}
				if r := w.Ask(callOf("", full)); r.GetError().GetReason() != event.ReasonSignInDeclined ||
					r.GetResponse() != nil {
					t.Errorf("a window got %v", r)
				}
				h.full = true
				reason := event.ReasonQueueFull
				if orderings[path] == atOnce {
					reason = event.ReasonSignInDeclined // it takes no room
				}
				if r := w.Ask(callOf("", full)); r.GetError().GetReason() != reason {
					t.Errorf("a window with too much under way got %v", r)
				}
				if request == "" {
					return
				}
				err := s.conn.Invoke(t.Context(), path, empty, out)
				if status.Code(err) != codes.InvalidArgument || reasonOf(err) != event.ReasonInvalidRequest {
					t.Errorf("without what it needs: %v", err)
				}
			})
		})
	}
}

// What cannot be spelled in JSON, or is huge, is refused, too.
func TestCallsThatAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		in   *anypb.Any
		text string
	}{
		"unknown message": {&anypb.Any{TypeUrl: "x/y.Z"}, "x/y.Z"},
		"a huge type":     {&anypb.Any{TypeUrl: "x/" + strings.Repeat("y", 8<<20)}, "call.request: is a"},
		"broken message": {&anypb.Any{TypeUrl: "type.googleapis.com/mcphub.v1.CallToolRequest", Value: []byte{0xff}},
			"call.request: is not a valid message"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := fakeeditor.Open(t.Context(), serve(t, &fakeHub{}, Options{}), fakeeditor.Options{TB: t})
			e := w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Call{Call: &mcphubv1.Call{
				Method: mcphubv1.McpHubService_CallTool_FullMethodName, Request: row.in}}}).GetError()
			if e.GetReason() != event.ReasonInvalidRequest || !strings.Contains(e.GetMessage(), row.text) ||
				len(e.GetMessage()) > 2048 {
				t.Errorf("%s: %v", name, e)
			}
		})
	}
}

// A window gets the first entries of a list, and learns how many there are; it can search.
func TestWindowsGetShortLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := serve(t, &fakeHub{entries: 2999}, Options{})
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		for _, c := range []struct {
			query          string
			limit          int32
			given, matched int
		}{{"", 0, 1000, 3000}, {"", 5000, 1000, 3000}, {"299", 0, 12, 12}, {"", 2, 2, 3000}} {
			r := &mcphubv1.ListResourcesRequest{Server: "s", Query: c.query, Limit: c.limit}
			var l mcphubv1.ListResourcesResponse
			if err := w.Ask(callOf("", r)).GetResponse().UnmarshalTo(&l); err != nil || len(l.GetResources()) != c.given ||
				int(l.GetMatched()) != c.matched {
				t.Errorf("%+v: %d of %d, %v", c, len(l.GetResources()), l.GetMatched(), err)
			}
		}
		all, err := mcphubv1.NewMcpServerServiceClient(conn).ListResources(t.Context(),
			&mcphubv1.ListResourcesRequest{Server: "s"})
		if err != nil || len(all.GetResources()) != 3000 {
			t.Errorf("a host got %d, %v", len(all.GetResources()), err)
		}
	})
}

// A call and its cancel, back to back in the stream: the cancel always finds the call, and the call never reaches the
// server.
func TestCallAndCancelBackToBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		server.Tool("sleep", func(c *fakeserver.CallContext) { _ = c.Hang() })
		_, conn := realHub(t, server)
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		for i := range 20 {
			id := fmt.Sprintf("r%d", i)
			w.BeginTool(&mcphubv1.CallToolRequest{RequestId: id, Server: "s", Tool: "sleep"})
			if got := w.CancelRequest(id, "").GetCancelOutcome(); got != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING {
				t.Fatalf("round %d: %v", i, got)
			}
			if w.WaitTerminal(id).GetMcpRequestCancelled() == nil {
				t.Fatalf("round %d: it has not ended by the cancel", i)
			}
		}
		if n := server.Count(fakeserver.Method("tools/call")); n != 0 {
			t.Errorf("%d calls reached the server", n)
		}
	})
}

// A window switches a server off and on again on one stream: in the end it is on, and a call that follows on the stream
// is not refused. Finding B13.
func TestOrdersOfOneWindowTakeEffectInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, conn := realHub(t, fakeserver.New())
		s := &stage{t: t, real: h, conn: conn, views: map[string]*view{}}
		s.window("w", "hello", "")
		for i := range 500 {
			s.window("w", "SetServerEnabled", `{"server":"s"}`)
			s.window("w", "SetServerEnabled", `{"server":"s","enabled":true}`)
			s.window("w", "CallTool", fmt.Sprintf(`{"requestId":"r%d","server":"s","tool":"none"}`, i))
			synctest.Wait()
			if told := fmt.Sprint(s.told()); strings.Contains(told, event.ReasonServerDisabled) {
				t.Fatalf("round %d: the call was refused: %s", i, told)
			}
			if list, _ := h.Servers(); list[0].State == event.ServerDisabled {
				t.Fatalf("round %d: the server is off in the end", i)
			}
		}
	})
}
