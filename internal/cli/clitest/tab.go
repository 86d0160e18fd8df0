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

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/web"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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

// Tab opens a tab, whose window has its snapshot then. Its cleanup ends its reader.
func (b *Browser) Tab(title string) *fakeeditor.Window {
	b.t.Helper()
	page := &pageStream{b.Ctx, b.Socket()}
	w, err := fakeeditor.AttachOver(page, func(error) { _ = page.socket.CloseNow() },
		fakeeditor.Options{TB: b.t, Title: title})
	if err != nil {
		b.t.Fatalf("a tab: %v", err)
	}
	b.t.Cleanup(w.Break)
	return w
}

// pageStream is the stream of a window over a page's socket.
type pageStream struct {
	ctx    context.Context
	socket *websocket.Conn
}

func (p *pageStream) Send(m *mcphubv1.AttachRequest) error {
	text, err := protojson.Marshal(m)
	if err != nil {
		return err
	}
	return p.socket.Write(p.ctx, websocket.MessageText, text)
}

func (p *pageStream) Recv() (*mcphubv1.AttachResponse, error) {
	_, text, err := p.socket.Read(p.ctx)
	if err != nil {
		return nil, err
	}
	m := new(mcphubv1.AttachResponse)
	return m, protojson.Unmarshal(text, m)
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
