package web

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const hello = `{"hello":{"windowId":"w","title":"tab"}}`

// tab is the WebSocket of a tab.
type tab struct {
	*websocket.Conn
	t *testing.T
}

// tab opens a socket as the page does.
func (b *browser) tab() *tab {
	b.w.t.Helper()
	tb := b.socket()
	tb.say(b.first)
	return tb
}

// socket opens a socket, and says nothing.
func (b *browser) socket() *tab {
	b.w.t.Helper()
	c, answer, err := b.dial(Subprotocol, "http://"+home)
	if err != nil {
		b.w.t.Fatal(err, answer)
	}
	return &tab{c, b.w.t}
}

func (b *browser) dial(protocol, origin string) (*websocket.Conn, *http.Response, error) {
	c, answer, err := websocket.Dial(b.w.t.Context(), "ws://"+home+"/stream", &websocket.DialOptions{
		HTTPClient: &b.Client, Subprotocols: []string{protocol}, HTTPHeader: http.Header{"Origin": {origin}},
	})
	if err == nil {
		b.w.t.Cleanup(func() { _ = c.CloseNow() })
		c.SetReadLimit(-1)
	}
	return c, answer, err
}

func (tb *tab) say(text string) {
	tb.t.Helper()
	if err := tb.Write(tb.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		tb.t.Fatal(err)
	}
}

// hear returns the next message. It must be a text frame without unknown fields.
func (tb *tab) hear() *mcphubv1.AttachResponse {
	tb.t.Helper()
	kind, text, err := tb.Read(tb.t.Context())
	if err != nil {
		tb.t.Fatal(err)
	}
	m := new(mcphubv1.AttachResponse)
	if err := protojson.Unmarshal(text, m); err != nil || kind != websocket.MessageText {
		tb.t.Fatalf("%v: %v %q", err, kind, text)
	}
	return m
}

// lastWord reads until the socket is closed and returns the close frame.
func (tb *tab) lastWord() websocket.CloseError {
	tb.t.Helper()
	for {
		_, _, err := tb.Read(tb.t.Context())
		if ce, ok := errors.AsType[websocket.CloseError](err); ok {
			return ce
		}
		if err != nil {
			tb.t.Fatalf("the socket ended without a word: %v", err)
		}
	}
}

// TestBridge: messages of the page reach the hub, and messages of the hub reach the page, unchanged and in order.
func TestBridge(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		tb := w.opened().tab()
		if tb.Subprotocol() != Subprotocol {
			t.Errorf("subprotocol %q", tb.Subprotocol())
		}
		tb.say(
			`{"hello":{"windowId":"w","title":"tab","promptKinds":["PROMPT_KIND_SAMPLING"],"comesBackTo":"hub-0"}}`)
		if m := tb.hear().GetWelcome(); m.GetWindowId() != "w" || m.GetHubId() != "hub-1" {
			t.Errorf("welcome %v", m)
		}
		for _, id := range []string{"m1", "m2", "m3"} {
			tb.say(`{"messageId":"` + id + `","cancelMcpRequest":{"requestId":"r"}}`)
		}
		for _, id := range []string{"m1", "m2", "m3"} {
			if r := tb.hear().GetReply(); r.GetMessageId() != id ||
				r.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING {
				t.Errorf("reply %v", r)
			}
		}
		got := w.editor.hello[0]
		if got.GetTitle() != "tab" || got.GetPromptKinds()[0] != mcphubv1.PromptKind_PROMPT_KIND_SAMPLING ||
			got.GetComesBackTo() != "hub-0" {
			t.Errorf("hello %v", got)
		}
	})
}

// calls returns the message that calls a method with these fields.
func calls(method, fields string) string {
	_, name, _ := strings.Cut(method, "/")
	if fields != "" {
		fields = "," + fields
	}
	return `{"messageId":"1","call":{"method":"/mcphub.v1.` + method +
		`","request":{"@type":"type.googleapis.com/mcphub.v1.` + name + `Request"` + fields + `}}}`
}

// TestNoConfigWrites: without the option, messages that would write or read config files do not reach the hub. The
// window goes on.
func TestNoConfigWrites(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		tb := w.opened().tab()
		tb.say(hello)
		tb.hear()
		for _, order := range []string{
			calls("ConfigService/AddServer", `"server":"s","entryJson":"{}"`),
			calls("ConfigService/UpdateServer", `"server":"s"`), calls("ConfigService/RemoveServer", `"server":"s"`),
			calls("ConfigService/UndoConfigWrite", ""), calls("ConfigService/ListConfigFiles", ""),
			calls("ConfigService/ReadConfigText", `"text":"{}"`), calls("ConfigService/GetServerEntry", `"server":"s"`),
			calls("RegistryService/SearchRegistry", ""), calls("RegistryService/FillProposal", `"proposalId":"p"`),
			`{"messageId":"1","call":{"method":"/mcphub.v1.ConfigService/None"}}`,
		} {
			tb.say(order)
			if r := tb.hear().GetReply(); r.GetMessageId() != "1" || r.GetError().GetReason() != "CONFIG_WRITES_OFF" {
				t.Errorf("%s: %v", order, r)
			}
		}
		tb.say(`{"messageId":"2","cancelMcpRequest":{"requestId":"r"}}`)
		if r := tb.hear().GetReply(); r.GetMessageId() != "2" || r.GetError() != nil {
			t.Errorf("afterwards: %v", r)
		}
	})
}

// TestConfigWrites: with the option, such messages reach the hub, and the page is told that it may send them.
func TestConfigWrites(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if text := w.page.fill("127.0.0.1:1", "nonce", ""); strings.Contains(text, "&#34;configWrites&#34;:true") {
			t.Error("the page offers what it may not do")
		}
		w.options.ConfigWrites, w.page.writes = true, true
		if text := w.page.fill("127.0.0.1:1", "nonce", ""); !strings.Contains(text, "&#34;configWrites&#34;:true") {
			t.Error(text)
		}
		tb := w.opened().tab()
		tb.say(hello)
		tb.hear()
		tb.say(calls("ConfigService/RemoveServer", `"server":"s"`))
		if r := tb.hear().GetReply(); r.GetMessageId() != "1" || r.GetError() != nil {
			t.Error(r)
		}
	})
}

// TestNoFilesOfPages: a page cannot choose a file to read or the registry to search.
func TestNoFilesOfPages(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.ConfigWrites, w.options.Registry = true, "https://registry.example"
		tb := w.opened().tab()
		tb.say(hello)
		tb.hear()
		read := calls("RegistryService/ReadBundle", `"path":"/etc/passwd"`)
		for _, order := range []string{read, strings.Replace(read, "type.googleapis.com", "elsewhere.example", 1),
			`{"messageId":"1","chooseBundle":{}}`} {
			tb.say(order)
			if r := tb.hear().GetReply(); r.GetMessageId() != "1" || r.GetError().GetReason() != "BUNDLE_NOT_CHOSEN" {
				t.Errorf("%s: %v", order, r)
			}
		}
		tb.say(calls("RegistryService/SearchRegistry", `"registryUrl":"http://127.0.0.1"`))
		var page mcphubv1.SearchRegistryResponse
		if r := tb.hear().GetReply(); r.GetResponse().UnmarshalTo(&page) != nil ||
			page.GetNextCursor() != "https://registry.example" {
			t.Error(r)
		}
	})
}

// TestSocketNeedsOriginAndSubprotocol: a socket from another origin or with another subprotocol is refused.
func TestSocketNeedsOriginAndSubprotocol(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for _, test := range []struct {
			what             string
			by               *browser
			protocol, origin string
			status           int
		}{
			{"from another page", w.opened(), Subprotocol, "http://evil.example", http.StatusForbidden},
			{"in another language", w.opened(), "mcphub.v2", "http://" + home, http.StatusBadRequest},
		} {
			_, answer, err := test.by.dial(test.protocol, test.origin)
			if err == nil || answer == nil || answer.StatusCode != test.status {
				t.Errorf("%s: %v, %v", test.what, err, answer)
			}
		}
		if len(w.editor.hello) > 0 {
			t.Error("a window was attached")
		}
	})
}

// TestBadMessage: a malformed message ends its own window with a reason, and no other window. The hub sees a broken
// stream, so the window can come back.
func TestBadMessage(t *testing.T) {
	for name, bad := range map[string]string{
		"no JSON": `{"hello"`, "unknown field": `{"hullo":{}}`, "wrong type": `{"cancelMcpRequest":7}`,
		"two messages":        hello + hello,
		"unknown field below": `{"setRoots":{"roots":[{"path":"/"}]}}`, "nothing": ``,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				b := w.opened()
				other, tb := b.tab(), b.tab()
				other.say(`{"hello":{"windowId":"other"}}`)
				other.hear()
				tb.say(hello)
				tb.hear()
				tb.say(bad)
				if word := tb.lastWord(); word.Code != 4000+websocket.StatusCode(codes.InvalidArgument) ||
					!strings.HasPrefix(word.Reason, "INVALID_MESSAGE: ") {
					t.Errorf("the last word is %d %q", word.Code, word.Reason)
				}
				if got := w.editor.ended(); got != "w broke" {
					t.Errorf("windows ended: %q, want %q", got, "w broke")
				}
				other.say(`{"messageId":"1","cancelMcpRequest":{"requestId":"r"}}`)
				if other.hear().GetReply().GetMessageId() != "1" {
					t.Error("the other window has lost its place")
				}
			})
		})
	}
}

// TestBinaryFrame: a binary frame ends the window with the close code of RFC 6455.
func TestBinaryFrame(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		tb := w.opened().tab()
		if err := tb.Write(t.Context(), websocket.MessageBinary, []byte(hello)); err != nil {
			t.Fatal(err)
		}
		if word := tb.lastWord(); word.Code != websocket.StatusUnsupportedData {
			t.Errorf("the last word is %d %q", word.Code, word.Reason)
		}
	})
}

func TestTooLong(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		tb := w.opened().tab()
		tb.say(hello)
		tb.hear()
		go func() { _ = tb.Write(t.Context(), websocket.MessageText, make([]byte, maxMessage+1)) }()
		if word := tb.lastWord(); word.Code != websocket.StatusMessageTooBig {
			t.Errorf("the last word is %d %q", word.Code, word.Reason)
		}
		if got := w.editor.ended(); got != "w broke" {
			t.Errorf("windows ended: %q, want %q", got, "w broke")
		}
	})
}

// TestHelloFirst: the page gets the hub's own refusal with its reason.
func TestHelloFirst(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		tb := w.opened().tab()
		tb.say(`{"cancelMcpRequest":{"requestId":"r"}}`)
		if word := tb.lastWord(); word.Code != 4003 || !strings.HasPrefix(word.Reason, "HELLO_EXPECTED: ") {
			t.Errorf("the last word is %d %q", word.Code, word.Reason)
		}
	})
}

// TestSilentTab: a socket that never says hello is closed. A socket that has said hello may stay silent.
func TestSilentTab(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		silent, tb := b.tab(), b.tab()
		tb.say(hello)
		tb.hear()
		time.Sleep(time.Hour)
		if _, _, err := silent.Read(t.Context()); err == nil {
			t.Error("the silent socket got a message")
		}
		tb.say(`{"messageId":"1","cancelMcpRequest":{"requestId":"r"}}`)
		if tb.hear().GetReply().GetMessageId() != "1" {
			t.Error("no reply after an hour")
		}
	})
}

// TestHowSocketsEnd: only a close with code 1000 by the page ends its window. Any other end is a broken stream, so the
// window can come back.
func TestHowSocketsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(tb *tab)
		want string
	}{
		"closed for good":           {func(tb *tab) { _ = tb.Close(websocket.StatusNormalClosure, "") }, "w closed"},
		"reloaded, or a tab closed": {func(tb *tab) { _ = tb.Close(websocket.StatusGoingAway, "") }, "w broke"},
		"closed by no code":         {func(tb *tab) { _ = tb.Close(websocket.StatusNoStatusRcvd, "") }, "w broke"},
		"cut off":                   {func(tb *tab) { _ = tb.CloseNow() }, "w broke"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				tb := w.opened().tab()
				tb.say(hello)
				tb.hear()
				test.end(tb)
				if got := w.editor.ended(); got != test.want {
					t.Errorf("windows ended: %q, want %q", got, test.want)
				}
			})
		})
	}
}

// TestGoodbyeInTheMiddle: a page that closes its socket while the hub sends has ended its window all the same.
func TestGoodbyeInTheMiddle(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		tb := w.opened().tab()
		tb.say(hello)
		tb.hear()
		tb.say(calls("McpHubService/GetTrace", ""))
		synctest.Wait() // the server is writing a message that nobody reads
		_ = tb.Close(websocket.StatusNormalClosure, "")
		if got := w.editor.ended(); got != "w closed" {
			t.Errorf("windows ended: %q, want %q", got, "w closed")
		}
	})
}

// TestTooSlow: if the hub ends a window because it cannot keep up, the close code is 4008.
func TestTooSlow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		tb := w.opened().tab()
		tb.say(hello)
		tb.hear()
		tb.say(calls("McpServerService/StopServer", `"server":"WINDOW_TOO_SLOW"`))
		if word := tb.lastWord(); word.Code != 4008 || !strings.HasPrefix(word.Reason, "WINDOW_TOO_SLOW: ") {
			t.Errorf("the last word is %d %q", word.Code, word.Reason)
		}
	})
}

// TestStalledBrowser: a browser that reads nothing is disconnected after a while, and until then delays no other
// window.
func TestStalledBrowser(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		stalled, other := b.tab(), b.tab()
		other.say(`{"hello":{"windowId":"other"}}`)
		other.hear()
		stalled.say(hello)
		stalled.hear()
		stalled.say(calls("McpHubService/GetTrace", ""))
		time.Sleep(stallTime / 2)
		other.say(`{"messageId":"1","cancelMcpRequest":{"requestId":"r"}}`)
		if other.hear().GetReply().GetMessageId() != "1" {
			t.Error("the other window got no reply")
		}
		if got := w.editor.ended(); got != "" {
			t.Errorf("windows ended too early: %q", got)
		}
		time.Sleep(stallTime)
		if got := w.editor.ended(); got != "w broke" {
			t.Errorf("windows ended: %q, want %q", got, "w broke")
		}
	})
}

// TestStop: when the server stops, every window is closed, a stalled one within seconds, and no new connection is
// accepted.
func TestStop(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		tb, stalled := b.tab(), b.tab()
		tb.say(hello)
		tb.hear()
		stalled.say(`{"hello":{"windowId":"stalled"}}`)
		stalled.hear()
		stalled.say(calls("McpHubService/GetTrace", ""))
		synctest.Wait()
		words := make(chan websocket.CloseError, 1)
		go func() { words <- tb.lastWord() }()
		began := time.Now()
		w.stop()
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("the stop took %v", took)
		}
		if word := <-words; word.Code != websocket.StatusGoingAway {
			t.Errorf("the last word is %d %q", word.Code, word.Reason)
		}
		if got := w.editor.ended(); !strings.Contains(got, "w broke") || !strings.Contains(got, "stalled broke") {
			t.Errorf("windows ended: %q, want \"w broke\" and \"stalled broke\"", got)
		}
		if c, err := w.listen.Dial(t.Context(), "tcp", home); err == nil {
			_ = c.Close()
			t.Error("the server still accepts connections")
		}
	})
}

// TestLoopbackOnly: the server listens only on the loopback address.
func TestLoopbackOnly(t *testing.T) {
	l, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ip := l.Addr().(*net.TCPAddr).IP; !ip.Equal(net.IPv4(127, 0, 0, 1)) {
		t.Errorf("it listens on %v", ip)
	}
}

// TestCloseText: the text of a close frame has at most 123 bytes and is valid UTF-8.
func TestCloseText(t *testing.T) {
	long := closeText(strings.Repeat("ü", 100))
	if len(long) > maxReason || !strings.HasSuffix(long, "ü...") || len(long) < maxReason-1 {
		t.Errorf("%d bytes: %q", len(long), long)
	}
	if got := closeText("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
}
