package ipc

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// gatewayHub is realHub with gateways. They listen on loopback, so it cannot be used in a synctest bubble.
func gatewayHub(t *testing.T, server *fakeserver.Server) *grpc.ClientConn {
	t.Helper()
	h, _ := realHub(t, server)
	gateways := gateway.NewSet(h)
	t.Cleanup(gateways.CloseAll)
	s := grpc.NewServer(ServerOptions(Options{})...)
	Register(s, h, Options{Gateways: gateways})
	return fakeeditor.Serve(t, s, nil)
}

// withToken sends the token of a gateway with each request.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(w))
	return http.DefaultTransport.RoundTrip(r)
}

// connect connects the Go SDK's client to a gateway.
func connect(t *testing.T, o *mcphubv1.OpenGatewayResponse) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "an agent", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: o.GetGateway().GetUrl(),
		HTTPClient: &http.Client{Transport: withToken(o.GetToken())}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// TestGatewayService: a host opens a gateway, a client calls through it, the host sees and cancels the call, and closes
// the gateway while a second call runs.
func TestGatewayService(t *testing.T) {
	server := fakeserver.New()
	began, heard := make(chan struct{}, 2), make(chan string, 2)
	server.Tool("slow", func(c *fakeserver.CallContext) {
		began <- struct{}{}
		heard <- <-c.Cancelled()
	})
	conn := gatewayHub(t, server)
	gateways, calls := mcphubv1.NewGatewayServiceClient(conn), mcphubv1.NewMcpHubServiceClient(conn)
	ctx := t.Context()
	opened, err := gateways.OpenGateway(ctx, &mcphubv1.OpenGatewayRequest{Title: "for agents",
		Approval: mcphubv1.GatewayApproval_GATEWAY_APPROVAL_CLIENT, MaxTokens: 500})
	if err != nil {
		t.Fatal(err)
	}
	want := &mcphubv1.Gateway{Title: "for agents", Approval: mcphubv1.GatewayApproval_GATEWAY_APPROVAL_CLIENT,
		Questions: mcphubv1.GatewayQuestions_GATEWAY_QUESTIONS_CLIENT, Tools: mcphubv1.GatewayTools_GATEWAY_TOOLS_ALL,
		MaxTokens: 500}
	if diff := cmp.Diff(want, opened.GetGateway(), protocmp.Transform(),
		protocmp.IgnoreFields(want, "gateway_id", "url", "open_time")); diff != "" {
		t.Errorf("the gateway (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(opened.GetGateway().GetUrl(), "http://127.0.0.1:") || len(opened.GetToken()) < 26 {
		t.Errorf("it is at %q with a token of %d bytes", opened.GetGateway().GetUrl(), len(opened.GetToken()))
	}

	session := connect(t, opened)
	ended := make(chan error, 2)
	running := func(id string) string { // waits for a running call other than id, and returns its id
		select {
		case <-began:
		case err := <-ended:
			t.Fatalf("the call ended before it ran: %v", err)
		}
		list, err := calls.ListRequests(ctx, &mcphubv1.ListRequestsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.GetRequests() {
			if r.GetTool() == "slow" && r.GetState() == mcphubv1.RequestState_REQUEST_STATE_RUNNING &&
				r.GetRequestId() != id {
				if r.GetCaller() != "an agent" {
					t.Errorf("the caller is %q", r.GetCaller())
				}
				return r.GetRequestId()
			}
		}
		t.Fatalf("no call runs: %v", list)
		return ""
	}
	slow := func() {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "s__slow", Arguments: map[string]any{}})
		if err == nil && !result.IsError {
			err = errors.New("it has a result")
		} else if err == nil {
			err = errors.New(result.Content[0].(*mcp.TextContent).Text)
		}
		ended <- err
	}
	go slow()
	first := running("")
	if _, err := calls.CancelRequest(ctx,
		&mcphubv1.CancelRequestRequest{RequestId: first, Reason: "not now"}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "not now") {
		t.Errorf("the client got %v", err)
	}
	if reason := <-heard; reason != "not now" {
		t.Errorf("the server heard %q", reason)
	}

	go slow()
	running(first)
	listed, err := gateways.ListGateways(ctx, &mcphubv1.ListGatewaysRequest{})
	want = opened.GetGateway()
	if err != nil || len(listed.GetGateways()) != 1 {
		t.Fatalf("listed: %v, %v", listed, err)
	}
	got := listed.GetGateways()[0]
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(want, "clients")); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	// What was answered before counts until its exchange is over, a moment after the answer.
	if got.GetClients() < 1 {
		t.Error("no client while a call runs")
	}
	for range 2 { // the second time it is closed already
		if _, err := gateways.CloseGateway(ctx,
			&mcphubv1.CloseGatewayRequest{GatewayId: want.GetGatewayId()}); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	if reason := <-heard; reason != gateway.ErrClosed.Error() {
		t.Errorf("the server heard %q", reason)
	}
	if err := <-ended; err == nil {
		t.Error("a call ended well without its gateway")
	}
	_ = session.Close() // its gateway is closed
	if listed, err := gateways.ListGateways(ctx, &mcphubv1.ListGatewaysRequest{}); err != nil ||
		len(listed.GetGateways()) != 0 {
		t.Errorf("listed at the end: %v, %v", listed, err)
	}
}

// TestGatewayServiceRefuses: wrong options are refused, and so is one gateway too many, until another is closed.
func TestGatewayServiceRefuses(t *testing.T) {
	gateways := mcphubv1.NewGatewayServiceClient(gatewayHub(t, fakeserver.New()))
	ctx := t.Context()
	var last *mcphubv1.OpenGatewayResponse
	for range gateway.MaxOpen {
		opened, err := gateways.OpenGateway(ctx, &mcphubv1.OpenGatewayRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && opened.GetToken() == last.GetToken() {
			t.Error("two gateways have one token")
		}
		last = opened
	}
	for name, tt := range map[string]struct {
		r      *mcphubv1.OpenGatewayRequest
		code   codes.Code
		reason string
	}{
		"too many":       {&mcphubv1.OpenGatewayRequest{}, codes.ResourceExhausted, event.ReasonBoundExceeded},
		"a port":         {&mcphubv1.OpenGatewayRequest{Port: 65536}, codes.InvalidArgument, ""},
		"a long title":   {&mcphubv1.OpenGatewayRequest{Title: strings.Repeat("x", 257)}, codes.InvalidArgument, ""},
		"a long reason":  {&mcphubv1.OpenGatewayRequest{CancelReason: strings.Repeat("x", 257)}, codes.InvalidArgument, ""},
		"an approval":    {&mcphubv1.OpenGatewayRequest{Approval: 9}, codes.InvalidArgument, ""},
		"what questions": {&mcphubv1.OpenGatewayRequest{Questions: 9}, codes.InvalidArgument, ""},
		"what tools":     {&mcphubv1.OpenGatewayRequest{Tools: 9}, codes.InvalidArgument, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gateways.OpenGateway(ctx, tt.r)
			if status.Code(err) != tt.code || tt.reason != "" && reasonOf(err) != tt.reason {
				t.Errorf("it said %v", err)
			}
		})
	}
	if _, err := gateways.CloseGateway(ctx, &mcphubv1.CloseGatewayRequest{}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("closing none: %v", err)
	}
	if _, err := gateways.CloseGateway(ctx,
		&mcphubv1.CloseGatewayRequest{GatewayId: last.GetGateway().GetGatewayId()}); err != nil {
		t.Fatal(err)
	}
	_, err := gateways.OpenGateway(ctx, &mcphubv1.OpenGatewayRequest{Profile: "nobody's"})
	if status.Code(err) != codes.NotFound || reasonOf(err) != event.ReasonProfileNotFound {
		t.Errorf("a profile that is not there: %v", err)
	}
	if _, err := gateways.OpenGateway(ctx, &mcphubv1.OpenGatewayRequest{}); err != nil {
		t.Errorf("one more, after one was closed and one failed: %v", err)
	}
}
