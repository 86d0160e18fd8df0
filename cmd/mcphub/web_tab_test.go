package main

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

	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/web"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// tab is one tab of a browser: a socket to the page's server, and everything that came over it.
type tab struct {
	t      *testing.T
	socket *websocket.Conn
	log    eventLog
	word   error         // with which the socket ended; written before ended is closed
	ended  chan struct{} // closed when the socket has ended
	ctx    context.Context
}

// siteBrowser is a browser that has opened the page.
type siteBrowser struct {
	t       *testing.T
	ctx     context.Context
	address string // http://127.0.0.1:PORT
	client  http.Client
	proof   web.Proof
}

// browserAt opens a link, as a person does, and checks that the page comes.
func browserAt(t *testing.T, link string) *siteBrowser {
	t.Helper()
	ctx, done := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the bound of the test"))
	t.Cleanup(done)
	address, token, ok := strings.Cut(link, "/?token=")
	if !ok || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("the link is %q", link)
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	b := &siteBrowser{t: t, ctx: ctx, address: address, client: http.Client{Transport: transport},
		proof: web.Proof{Session: rand.Text() + rand.Text(), Token: token}}
	status, body := b.get(link)
	if status != http.StatusOK || !strings.Contains(body, "data-surface=") || strings.Contains(body, "{{") {
		t.Fatalf("the link gives %d:\n%s", status, body)
	}
	return b
}

func (b *siteBrowser) get(address string) (status int, body string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, address, nil)
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

// tab opens a tab. Its cleanup ends its reader.
func (b *siteBrowser) tab(title string) *tab {
	b.t.Helper()
	socket := b.socket()
	tb := &tab{t: b.t, socket: socket, ended: make(chan struct{}), ctx: b.ctx}
	tb.say(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{
		Hello: &mcphubv1.Hello{Title: title, PromptKinds: allKinds}}})
	go tb.read()
	b.t.Cleanup(func() {
		_ = socket.CloseNow()
		<-tb.ended
	})
	return tb
}

// socket opens a socket and sends the proof of the page.
func (b *siteBrowser) socket() *websocket.Conn {
	b.t.Helper()
	socket, _, err := websocket.Dial(b.ctx, strings.Replace(b.address, "http:", "ws:", 1)+
		"/stream", &websocket.DialOptions{
		HTTPClient: &b.client, Subprotocols: []string{"mcphub.v1.json"}, HTTPHeader: http.Header{"Origin": {b.address}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	socket.SetReadLimit(-1)
	text, err := json.Marshal(b.proof)
	if err == nil {
		err = socket.Write(b.ctx, websocket.MessageText, text)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return socket
}

func (tb *tab) read() {
	defer close(tb.ended)
	for {
		_, text, err := tb.socket.Read(context.WithoutCancel(tb.ctx))
		m := new(mcphubv1.AttachResponse)
		if err == nil {
			err = protojson.Unmarshal(text, m)
		}
		if err != nil {
			tb.word = err
			tb.log.change(func() { tb.log.ended = true })
			return
		}
		tb.log.change(func() { tb.log.events = append(tb.log.events, m) })
	}
}

func (tb *tab) say(m *mcphubv1.AttachRequest) {
	tb.t.Helper()
	text, err := protojson.Marshal(m)
	if err == nil {
		err = tb.socket.Write(tb.ctx, websocket.MessageText, text)
	}
	if err != nil {
		tb.t.Fatal(err)
	}
}

func (tb *tab) call(id, server, tool, arguments string) {
	tb.t.Helper()
	tb.order(id, mcphubv1.McpHubService_CallTool_FullMethodName,
		&mcphubv1.CallToolRequest{RequestId: id, Server: server, Tool: tool, ArgumentsJson: arguments})
}

// order calls a method.
func (tb *tab) order(id, method string, request proto.Message) {
	tb.t.Helper()
	m, err := mcphubv1.NewCall(method, request)
	if err != nil {
		tb.t.Fatal(err)
	}
	m.MessageId = id
	tb.say(m)
}

func (tb *tab) answer(a *mcphubv1.PromptAnswer) {
	tb.t.Helper()
	tb.say(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
}

// sees waits for an event that pick picks, of all since the tab was opened.
func sees[T any](tb *tab, what string, pick func(*mcphubv1.AttachResponse) (T, bool)) T {
	tb.t.Helper()
	v, err := waitFor(tb.ctx, &tb.log, 0, what, pick)
	if err != nil {
		tb.t.Fatalf("%v (the socket: %v)", err, tb.word)
	}
	return v
}

// done waits until a message has done what it asks for.
func (tb *tab) done(messageID string) {
	tb.t.Helper()
	sees(tb, "the reply", func(m *mcphubv1.AttachResponse) (bool, bool) {
		if e := m.GetReply().GetError(); e != nil {
			tb.t.Fatal(e)
		}
		return true, m.GetReply().GetMessageId() == messageID
	})
}

func (tb *tab) snapshot() *mcphubv1.Snapshot {
	return sees(tb, "the snapshot", func(e *mcphubv1.AttachResponse) (*mcphubv1.Snapshot, bool) {
		return e.GetSnapshot(), e.GetSnapshot() != nil
	})
}

func (tb *tab) prompt(server string) *mcphubv1.Prompt {
	return sees(tb, "a question of "+server, func(e *mcphubv1.AttachResponse) (*mcphubv1.Prompt, bool) {
		p := e.GetPromptOpened().GetPrompt()
		return p, p != nil && p.GetServer() == server
	})
}

func (tb *tab) closed(promptID string) *mcphubv1.PromptClosed {
	return sees(tb, "the end of the question", func(e *mcphubv1.AttachResponse) (*mcphubv1.PromptClosed, bool) {
		return e.GetPromptClosed(), e.GetPromptClosed().GetPromptId() == promptID
	})
}

func (tb *tab) progress(id string) *mcphubv1.McpRequestProgressed {
	return sees(tb, "progress of "+id, func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestProgressed, bool) {
		p := e.GetMcpRequestProgressed()
		return p, p.GetRequestId() == id && p.GetProgress() != nil
	})
}

func (tb *tab) cancelled(id string) *mcphubv1.McpRequestCancelled {
	return sees(tb, "the cancel of "+id, func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestCancelled, bool) {
		return e.GetMcpRequestCancelled(), e.GetMcpRequestCancelled().GetRequestId() == id
	})
}

func (tb *tab) finished(id string) *mcphubv1.McpRequestFinished {
	return sees(tb, "the end of "+id, func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestFinished, bool) {
		return e.GetMcpRequestFinished(), e.GetMcpRequestFinished().GetRequestId() == id
	})
}
