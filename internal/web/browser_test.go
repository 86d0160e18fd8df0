package web

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

var errTestOver = errors.New("the test is over")

const home = "127.0.0.1:4711"

// memory is a listener without a network, for servers in a synctest bubble, that has the address home.
type memory struct{ *fakeserver.Memory }

func newMemory() memory { return memory{fakeserver.NewMemory()} }

func (memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711} }

// world is a server of the page, with a fake editor service behind it.
type world struct {
	*Server
	t      *testing.T
	listen memory
	editor *editor
	stop   func() // stops Serve and waits for it
}

// inWorld runs a test in a synctest bubble, with a server of the page in testdata.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, listen: newMemory(), editor: &editor{}}
		var err error
		w.Server, err = New(w.listen, Options{Files: os.DirFS("testdata"), Editor: w.editor.serve(t),
			Another: "Press Enter."})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		served := make(chan error, 1)
		go func() { served <- w.Serve(ctx) }()
		w.stop = sync.OnceFunc(func() {
			cancel(errTestOver)
			if err := <-served; err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
		defer w.stop()
		test(t, w)
	})
}

// browser is an HTTP client that keeps cookies and follows no redirects, with a page.
type browser struct {
	w *world
	http.Client
	first string // what the page says first on a socket
}

func (w *world) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	transport := w.listen.RoundTripper()
	w.t.Cleanup(transport.CloseIdleConnections)
	return &browser{w: w, Client: http.Client{Transport: transport, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}}
}

// opened returns a browser that has opened a link.
func (w *world) opened() *browser {
	w.t.Helper()
	b, link := w.browser(), w.Link()
	if r := b.get(link); r.status != http.StatusOK {
		w.t.Fatalf("the link gives %d: %s", r.status, r.body)
	}
	b.first = proof(rand.Text()+rand.Text(), tokenOf(w.t, link))
	return b
}

type response struct {
	status  int
	header  http.Header
	body    string
	cookies []*http.Cookie
}

func (b *browser) get(address string, change ...func(*http.Request)) response {
	b.w.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = "http://" + home + address
	}
	request, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.w.t.Fatal(err)
	}
	for _, f := range change {
		f(request)
	}
	answer, err := b.Do(request)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return response{answer.StatusCode, answer.Header, string(body), answer.Cookies()}
}

// editor is a fake editor service. It behaves like the hub's as far as the server of the page can see: it requires a
// hello, sends the welcome, replies to messages, and ends its stream when the window does. It records how each window
// ended.
type editor struct {
	mcphubv1.UnimplementedEditorServiceServer

	mu    sync.Mutex
	hello []*mcphubv1.Hello // guarded by mu
	ends  []string          // guarded by mu
}

func (e *editor) serve(t *testing.T) mcphubv1.EditorServiceClient {
	server := grpc.NewServer()
	mcphubv1.RegisterEditorServiceServer(server, e)
	return mcphubv1.NewEditorServiceClient(fakeeditor.Serve(t, server, nil))
}

func (e *editor) Attach(stream grpc.BidiStreamingServer[mcphubv1.AttachRequest, mcphubv1.AttachResponse]) error {
	first, err := stream.Recv()
	switch {
	case err != nil:
		return err
	case first.GetHello() == nil:
		return hubError(codes.InvalidArgument, "HELLO_EXPECTED", "the first message of a window must be hello")
	}
	id := first.GetHello().GetWindowId()
	e.note(func() { e.hello = append(e.hello, first.GetHello()) })
	_ = stream.Send(
		&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Welcome{Welcome: &mcphubv1.Welcome{HubId: "hub-1",
			WindowId: id}}})
	for {
		m, err := stream.Recv()
		if err != nil {
			e.note(func() { e.ends = append(e.ends, id+" broke") })
			return err
		}
		if m.GetCloseWindow() != nil {
			e.note(func() { e.ends = append(e.ends, id+" closed") })
			return nil
		}
		reply := &mcphubv1.Reply{MessageId: m.GetMessageId()}
		if m.GetCancelMcpRequest() != nil {
			reply.CancelOutcome = mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING
		}
		var search mcphubv1.SearchRegistryRequest
		var stop mcphubv1.StopServerRequest
		switch in := m.GetCall().GetRequest(); {
		case in.UnmarshalTo(&search) == nil: // the reply contains the URL of the registry
			reply.Response, _ = anypb.New(&mcphubv1.SearchRegistryResponse{NextCursor: search.GetRegistryUrl()})
		case in.UnmarshalTo(&stop) == nil:
			return hubError(codes.ResourceExhausted, stop.GetServer(), "the window could not keep up; attach again")
		case in.MessageIs((*mcphubv1.GetTraceRequest)(nil)): // more than all buffers on the way hold
			for range 300 {
				if err := stream.Send(&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_LogMessage{
					LogMessage: &mcphubv1.LogMessage{DataJson: strings.Repeat("x", 1<<16)},
				}}); err != nil {
					e.note(func() { e.ends = append(e.ends, id+" broke") })
					return err
				}
			}
			continue
		}
		_ = stream.Send(&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Reply{Reply: reply}})
	}
}

func (e *editor) note(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// windows returns how many windows have said hello, once all goroutines of the bubble are blocked.
func (e *editor) windows() int {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.hello)
}

// ended returns how the windows have ended, once all goroutines of the bubble are blocked.
func (e *editor) ended() string {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.ends, ", ")
}

func hubError(code codes.Code, reason, message string) error {
	s, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{Domain: "mcphub", Reason: reason})
	if err != nil {
		return err
	}
	return s.Err()
}
