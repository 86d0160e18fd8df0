package ipc

import (
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

// A host opens a gateway, sees the call of a client, and closes the gateway while the call runs, which cancels it.
func TestGatewayService(t *testing.T) {
	server := fakeserver.New()
	began, heard := make(chan struct{}), make(chan string, 1)
	server.Tool("slow", func(c *fakeserver.CallContext) {
		close(began)
		heard <- <-c.Cancelled()
	})
	conn := gatewayHub(t, server)
	gateways, ctx := mcphubv1.NewGatewayServiceClient(conn), t.Context()
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
	_, err = gateways.OpenGateway(ctx, &mcphubv1.OpenGatewayRequest{Profile: "nobody's"})
	if status.Code(err) != codes.NotFound || reasonOf(err) != event.ReasonProfileNotFound {
		t.Errorf("a profile that is not there: %v", err)
	}

	session := connect(t, opened)
	ended := make(chan error)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "s__slow", Arguments: map[string]any{}})
		ended <- err
	}()
	select {
	case <-began:
	case err := <-ended:
		t.Fatalf("the call ended before it ran: %v", err)
	}
	open, err := mcphubv1.NewMcpHubServiceClient(conn).ListRequests(ctx, &mcphubv1.ListRequestsRequest{})
	if err != nil || len(open.GetRequests()) != 1 || open.GetRequests()[0].GetCaller() != "an agent" {
		t.Errorf("the requests are %v, %v", open, err)
	}
	listed, err := gateways.ListGateways(ctx, &mcphubv1.ListGatewaysRequest{})
	if err != nil || len(listed.GetGateways()) != 1 {
		t.Fatalf("listed: %v, %v", listed, err)
	}
	want, got := opened.GetGateway(), listed.GetGateways()[0]
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
