package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	// Subprotocol is what the page speaks: one AttachRequest or AttachResponse as proto3 JSON in each text frame.
	Subprotocol = "mcphub.v1.json"
	// maxMessage bounds what a page may say at once: arguments of a tool, a pasted text, a completion.
	maxMessage = 8 << 20
	// helloTime is how long a page may be silent after it has come.
	helloTime = 10 * time.Second
	// stallTime is how long a browser may leave one message unread. The hub has its own limit for a window that is merely
	// slow (WINDOW_TOO_SLOW), but cannot tell it to a socket that takes nothing at all.
	stallTime = 30 * time.Second
	// lastWriteTime is how long the message under way may take when the window ends.
	lastWriteTime = time.Second
	// goodbyeTime is how long the page's last words may take to reach the hub once its socket has closed.
	goodbyeTime = 5 * time.Second
)

var (
	errSocketBroken = errors.New("the page's socket broke")
	errWindowEnded  = errors.New("the window has ended")
	errNoHello      = errors.New("the page has said nothing")
)

type attachStream = grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]

// serveSocket makes a window of a socket, and stays until it has ended. (The context of the request is of no use:
// net/http gives up watching a connection that it hands over, and may end the context by that.)
func (s *Server) serveSocket(serving context.Context, w http.ResponseWriter, r *http.Request) {
	if !slices.ContainsFunc(strings.Split(r.Header.Get("Sec-WebSocket-Protocol"), ","), func(p string) bool {
		return strings.TrimSpace(p) == Subprotocol
	}) {
		refuse(w, http.StatusBadRequest, "Not spoken here", "A window speaks "+Subprotocol+".")
		return
	}
	s.windows.Add(1)
	defer s.windows.Done()
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}})
	if err != nil {
		return // Accept has answered
	}
	socket.SetReadLimit(maxMessage)
	ctx, end := context.WithCancelCause(serving)
	defer end(errWindowEnded)
	stream, err := s.editor.Attach(ctx)
	if err != nil {
		closeSocket(socket, verdictOf(err))
		return
	}
	b := &bridge{socket: socket, stream: stream, end: end, heard: make(chan struct{}), configWrites: s.configWrites,
		registry: s.registry}
	// The end of a context cuts the socket off in the middle; the last word of tell is to be heard.
	go b.hear(context.WithoutCancel(serving))
	v := b.tell(ctx)
	end(errWindowEnded)
	closeSocket(socket, v) // ends the reading, too
	<-b.heard
}

// bridge is one window: what the page says goes to the hub, what the hub says goes to the page, each by a goroutine of
// its own.
//
// How the socket ends decides how the stream does, since that decides what becomes of the window (docs/protocol.md): a
// close with 1000 is the page's word that the window is over, and a half-close; anything else is a break, after which
// it may come back. That is so for 1001, too, for a browser says it of a page that is reloaded as well as of one that
// is closed (HTML, "make disappear a WebSocket object").
type bridge struct {
	socket *websocket.Conn
	stream attachStream
	end    context.CancelCauseFunc // breaks the stream

	configWrites bool   // as in Options
	registry     string // as in Options

	heard chan struct{} // closed by hear at its end; what follows is written before
	over  bool          // the page has closed the window for good
}

// hear passes on what the page says until the socket or the stream ends. A message that is none breaks the stream, with
// a verdict for the page; no other window is touched by it.
func (b *bridge) hear(ctx context.Context) {
	defer close(b.heard)
	first, done := context.WithTimeoutCause(ctx, helloTime, errNoHello)
	defer done()
	for reading := first; ; reading = ctx {
		kind, text, err := b.socket.Read(reading)
		switch {
		case err == nil:
		case websocket.CloseStatus(err) == websocket.StatusNormalClosure:
			b.over = true
			_ = b.stream.CloseSend() // its error is the stream's, which tell gets
			return
		default:
			b.end(errSocketBroken)
			return
		}
		if kind != websocket.MessageText {
			b.end(&verdict{websocket.StatusUnsupportedData, "a message is a text frame"})
			return
		}
		message := new(mcphubv1.AttachRequest)
		if err := protojson.Unmarshal(text, message); err != nil {
			b.end(badMessage(err))
			return
		}
		refused := namesFile(message)
		if !b.configWrites && refused == nil {
			refused = writesConfig(message)
		}
		atRegistry(message, b.registry)
		if refused != nil {
			if b.write(ctx, refused) != nil {
				b.end(errSocketBroken)
				return
			}
			continue
		}
		if b.stream.Send(message) != nil {
			return // tell gets the status
		}
	}
}

// tell passes on what the hub says until the stream ends, and gives the word that the socket is closed with.
func (b *bridge) tell(ctx context.Context) *verdict {
	writing := true
	for {
		message, err := b.stream.Recv()
		if errors.Is(err, io.EOF) {
			return windowOver
		}
		if err != nil {
			if v, ok := errors.AsType[*verdict](context.Cause(ctx)); ok {
				return v
			}
			if errors.Is(context.Cause(ctx), errStopping) {
				return serverStops
			}
			return verdictOf(err)
		}
		if !writing {
			continue
		}
		if b.write(ctx, message) != nil {
			// The page may have said goodbye, which must reach the hub as such: a break would keep the window open.
			if !b.saidGoodbye() {
				b.end(errSocketBroken)
			}
			writing = false
		}
	}
}

// write sends one message to the page.
func (b *bridge) write(ctx context.Context, message *mcphubv1.AttachResponse) error {
	text, err := protojson.Marshal(message)
	if err != nil {
		return err
	}
	writing, done := context.WithTimeoutCause(context.WithoutCancel(ctx), stallTime, errSocketBroken)
	defer done()
	// A window that ends in the middle of a message lets it out first, if the browser takes it.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWriteTime, done) })()
	return b.socket.Write(writing, websocket.MessageText, text)
}

// saidGoodbye tells whether the page has closed the window for good. The socket has ended, so that hear ends at once,
// unless the hub does not take its last message.
func (b *bridge) saidGoodbye() bool {
	patience := time.NewTimer(goodbyeTime)
	defer patience.Stop()
	select {
	case <-b.heard:
		return b.over
	case <-patience.C:
		return false
	}
}
