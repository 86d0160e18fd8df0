package clitest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/web"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Tab is one tab of a browser: a socket to the page's server, and everything that came over it.
type Tab struct {
	t      *testing.T
	socket *websocket.Conn
	log    door.EventLog
	Word   error         // with which the socket ended; written before ended is closed
	Ended  chan struct{} // closed when the socket has ended
	Ctx    context.Context
}

// Browser is a browser that has opened the page.
type Browser struct {
	t       *testing.T
	Ctx     context.Context
	Address string // http://127.0.0.1:PORT
	client  http.Client
	proof   web.Proof
}

// BrowserAt opens a link, as a person does, and checks that the page comes.
func BrowserAt(t *testing.T, link string) *Browser {
	t.Helper()
	ctx, done := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the bound of the test"))
	t.Cleanup(done)
	address, token, ok := strings.Cut(link, "/?token=")
	if !ok || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("the link is %q", link)
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	b := &Browser{t: t, Ctx: ctx, Address: address, client: http.Client{Transport: transport},
		proof: web.Proof{Session: rand.Text() + rand.Text(), Token: token}}
	status, body := b.Get(link)
	if status != http.StatusOK || !strings.Contains(body, "data-surface=") || strings.Contains(body, "{{") {
		t.Fatalf("the link gives %d:\n%s", status, body)
	}
	return b
}

// Get gets an address.
func (b *Browser) Get(address string) (status int, body string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.Ctx, http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// Tab opens a tab. Its cleanup ends its reader.
func (b *Browser) Tab(title string) *Tab {
	b.t.Helper()
	socket := b.Socket()
	tb := &Tab{t: b.t, socket: socket, Ended: make(chan struct{}), Ctx: b.Ctx}
	tb.Say(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{
		Hello: &mcphubv1.Hello{Title: title, PromptKinds: door.AllKinds}}})
	go tb.read()
	b.t.Cleanup(func() {
		_ = socket.CloseNow()
		<-tb.Ended
	})
	return tb
}

// Socket opens a socket and sends the proof of the page.
func (b *Browser) Socket() *websocket.Conn {
	b.t.Helper()
	socket, _, err := websocket.Dial(b.Ctx, strings.Replace(b.Address, "http:", "ws:", 1)+
		"/stream", &websocket.DialOptions{
		HTTPClient: &b.client, Subprotocols: []string{"mcphub.v1.json"}, HTTPHeader: http.Header{"Origin": {b.Address}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	socket.SetReadLimit(-1)
	text, err := json.Marshal(b.proof)
	if err == nil {
		err = socket.Write(b.Ctx, websocket.MessageText, text)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return socket
}

func (tb *Tab) read() {
	defer close(tb.Ended)
	for {
		_, text, err := tb.socket.Read(context.WithoutCancel(tb.Ctx))
		m := new(mcphubv1.AttachResponse)
		if err == nil {
			err = protojson.Unmarshal(text, m)
		}
		if err != nil {
			tb.Word = err
			tb.log.End()
			return
		}
		tb.log.Add(m)
	}
}

// Say sends a message.
func (tb *Tab) Say(m *mcphubv1.AttachRequest) {
	tb.t.Helper()
	text, err := protojson.Marshal(m)
	if err == nil {
		err = tb.socket.Write(tb.Ctx, websocket.MessageText, text)
	}
	if err != nil {
		tb.t.Fatal(err)
	}
}

// Call calls a tool.
func (tb *Tab) Call(id, server, tool, arguments string) {
	tb.t.Helper()
	tb.Order(id, mcphubv1.McpHubService_CallTool_FullMethodName,
		&mcphubv1.CallToolRequest{RequestId: id, Server: server, Tool: tool, ArgumentsJson: arguments})
}

// Order calls a method.
func (tb *Tab) Order(id, method string, request proto.Message) {
	tb.t.Helper()
	m, err := mcphubv1.NewCall(method, request)
	if err != nil {
		tb.t.Fatal(err)
	}
	m.MessageId = id
	tb.Say(m)
}

// Answer answers a prompt.
func (tb *Tab) Answer(a *mcphubv1.PromptAnswer) {
	tb.t.Helper()
	tb.Say(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
}

// Sees waits for an event that pick picks, of all since the tab was opened.
func Sees[T any](tb *Tab, what string, pick func(*mcphubv1.AttachResponse) (T, bool)) T {
	tb.t.Helper()
	v, err := door.WaitFor(tb.Ctx, &tb.log, what, pick)
	if err != nil {
		tb.t.Fatalf("%v (the socket: %v)", err, tb.Word)
	}
	return v
}

// Done waits until a message has done what it asks for.
func (tb *Tab) Done(messageID string) {
	tb.t.Helper()
	Sees(tb, "the reply", func(m *mcphubv1.AttachResponse) (bool, bool) {
		if e := m.GetReply().GetError(); e != nil {
			tb.t.Fatal(e)
		}
		return true, m.GetReply().GetMessageId() == messageID
	})
}

// Snapshot waits for the snapshot.
func (tb *Tab) Snapshot() *mcphubv1.Snapshot {
	return Sees(tb, "the snapshot", func(e *mcphubv1.AttachResponse) (*mcphubv1.Snapshot, bool) {
		return e.GetSnapshot(), e.GetSnapshot() != nil
	})
}

// Prompt waits for a prompt of a server.
func (tb *Tab) Prompt(server string) *mcphubv1.Prompt {
	return Sees(tb, "a question of "+server, func(e *mcphubv1.AttachResponse) (*mcphubv1.Prompt, bool) {
		p := e.GetPromptOpened().GetPrompt()
		return p, p != nil && p.GetServer() == server
	})
}

// Closed waits for the end of a prompt.
func (tb *Tab) Closed(promptID string) *mcphubv1.PromptClosed {
	return Sees(tb, "the end of the question", func(e *mcphubv1.AttachResponse) (*mcphubv1.PromptClosed, bool) {
		return e.GetPromptClosed(), e.GetPromptClosed().GetPromptId() == promptID
	})
}

// Progress waits for progress of a request.
func (tb *Tab) Progress(id string) *mcphubv1.McpRequestProgressed {
	return Sees(tb, "progress of "+id, func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestProgressed, bool) {
		p := e.GetMcpRequestProgressed()
		return p, p.GetRequestId() == id && p.GetProgress() != nil
	})
}

// Cancelled waits until a request was cancelled.
func (tb *Tab) Cancelled(id string) *mcphubv1.McpRequestCancelled {
	return Sees(tb, "the cancel of "+id, func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestCancelled, bool) {
		return e.GetMcpRequestCancelled(), e.GetMcpRequestCancelled().GetRequestId() == id
	})
}

// Finished waits until a request has finished.
func (tb *Tab) Finished(id string) *mcphubv1.McpRequestFinished {
	return Sees(tb, "the end of "+id, func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestFinished, bool) {
		return e.GetMcpRequestFinished(), e.GetMcpRequestFinished().GetRequestId() == id
	})
}
