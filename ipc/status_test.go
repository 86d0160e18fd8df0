package ipc

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// eventConstants returns the names of the constants of a type of package event. It reads the source, since a list in
// the test could lack a new constant, too.
func eventConstants(t *testing.T, typeName string) []string {
	t.Helper()
	files, err := filepath.Glob("../hub/event/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				names = append(names, constantsOf(g, typeName)...)
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("no constants of type %s in package event", typeName)
	}
	return names
}

// constantsOf returns the constants of one type in one block. One without type and value has those of the one before.
func constantsOf(g *ast.GenDecl, typeName string) (names []string) {
	current := ""
	for _, s := range g.Specs {
		v := s.(*ast.ValueSpec)
		if id, ok := v.Type.(*ast.Ident); ok {
			current = id.Name
		} else if v.Type == nil && len(v.Values) > 0 {
			current = ""
		}
		if current == typeName {
			for _, n := range v.Names {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

func TestStatusMapping(t *testing.T) {
	want := map[event.Code]codes.Code{
		"NOT_FOUND": 5, "ALREADY_EXISTS": 6, "INVALID_ARGUMENT": 3, "PERMISSION_DENIED": 7, "FAILED_PRECONDITION": 9,
		"CANCELLED": 1, "DEADLINE_EXCEEDED": 4, "UNAVAILABLE": 14, "RESOURCE_EXHAUSTED": 8, "INTERNAL": 13,
	}
	if names := eventConstants(t, "Code"); len(names) != len(want) {
		t.Errorf("package hub has the codes %v; this test knows %d", names, len(want))
	}
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, Options{}))
		for code, grpcCode := range want {
			h.call = func(context.Context, hub.CallRequest) (*hub.CallResult, error) {
				return nil, fmt.Errorf("wrapped: %w", &event.Error{Code: code, Reason: "SOME_REASON", Message: "what happened"})
			}
			_, err := client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: "t"})
			if s := status.Convert(err); s.Code() != grpcCode || s.Message() != "what happened" ||
				reasonOf(err) != "SOME_REASON" {
				t.Errorf("%s: got %v %q (%s), want %v", code, s.Code(), s.Message(), reasonOf(err), grpcCode)
			}
		}
	})
	others := []struct {
		err    error
		code   codes.Code
		reason string
	}{
		{errors.New("secret text"), codes.Internal, "INTERNAL"},
		{&event.Error{Code: "NEW", Reason: "R", Message: "m"}, codes.Internal, "R"},
		{fmt.Errorf("secret text: %w", context.Canceled), codes.Canceled, event.ReasonCancelled},
		{context.DeadlineExceeded, codes.DeadlineExceeded, event.ReasonTotalTimeout},
	}
	for _, o := range others {
		err := statusOf(o.err)
		if status.Code(err) != o.code || reasonOf(err) != o.reason || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: got %v (%s), want %v %s", o.err, err, reasonOf(err), o.code, o.reason)
		}
	}
	if statusOf(nil) != nil {
		t.Error("nil became an error")
	}
}

func TestErrorInfoDetail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{failure: &event.Error{
			Code: event.CodeFailedPrecondition, Reason: event.ReasonServerDisabled, Message: "it is \xff off\n" +
				strings.Repeat("x", 5000),
			Meta: map[string]string{"server": "s\xfe", "setting": "disabled"},
		}}
		_, err := mcphubv1.NewMcpServerServiceClient(serve(t, h, Options{})).StartServer(t.Context(),
			&mcphubv1.StartServerRequest{Server: "s"})
		s := status.Convert(err)
		if s.Code() != codes.FailedPrecondition || !strings.HasPrefix(s.Message(), "it is \uFFFD off x") ||
			len(s.Message()) > 2*maxErrorText {
			t.Errorf("got %v %.40q... (%d bytes)", s.Code(), s.Message(), len(s.Message()))
		}
		if len(s.Details()) != 1 {
			t.Fatalf("details %v, want one", s.Details())
		}
		info := s.Details()[0].(*errdetails.ErrorInfo)
		want := map[string]string{"server": "s\uFFFD", "setting": "disabled"}
		if diff := cmp.Diff(want, info.GetMetadata()); diff != "" || info.GetDomain() != "mcphub" ||
			info.GetReason() != "SERVER_DISABLED" {
			t.Errorf("got %v", info)
		}
	})
}

// The reason of a cancel crosses gRPC word for word, in the binary error detail, since HTTP/2 header fields hold ASCII
// only. The status message stays one line. Finding B19.
func TestReasonCrossesGRPCWordForWord(t *testing.T) {
	reasons := []string{
		"a\nline\tand a tab", "\r\ngrpc-status: 0", "\x1b[2J\x00\u009b", "\u3000wide\u00a0narrow",
		"\U0001f468\u200d\U0001f469\u200d\U0001f467",
		"\u0928\u092e\u0938\u094d\u0924\u0947", "\u202eright to left", `100% "quoted" \u00e4`, "%0A",
		strings.Repeat("\U0001f600", 256),
	}
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, Options{}))
		for _, reason := range reasons {
			h.call = func(context.Context, hub.CallRequest) (*hub.CallResult, error) {
				return nil, &event.Error{
					Code: event.CodeCancelled, Reason: event.ReasonCancelled, Message: "cancelled: " + reason,
					Meta: map[string]string{"cancel_reason": reason},
				}
			}
			_, err := client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: "t"})
			s := status.Convert(err)
			if s.Code() != codes.Canceled || len(s.Details()) != 1 {
				t.Fatalf("%.40q: got %v", reason, err)
			}
			if got := s.Details()[0].(*errdetails.ErrorInfo).GetMetadata()["cancel_reason"]; got != reason {
				t.Errorf("the caller got the reason %.40q, want %.40q", got, reason)
			}
			if strings.ContainsFunc(s.Message(), unicode.IsControl) {
				t.Errorf("the message has control characters: %q", s.Message())
			}
		}
	})
}
