package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	// Subprotocol is the page's protocol: one AttachRequest or AttachResponse as proto3 JSON in each text frame.
	Subprotocol = "mcphub.v1.json"
	// maxMessage bounds one message of a page: arguments of a tool, a pasted text, a completion.
	maxMessage = 8 << 20
	// proofBytes bounds the first message, proofTime how long a page may take to send it, and mostUnproven how many
	// sockets may wait for it.
	proofBytes   = 1 << 10
	proofTime    = 5 * time.Second
	mostUnproven = 64
	// helloTime is how long a page may be silent after it has connected.
	helloTime = 10 * time.Second
	// stallTime is how long a browser may leave one message unread. The hub has its own limit for a window that is too
	// slow (WINDOW_TOO_SLOW), but cannot report it over a socket that takes no data.
	stallTime = 30 * time.Second
	// lastWriteTime is how long the message in progress may take when the window ends.
	lastWriteTime = time.Second
	// goodbyeTime is how long the page's last messages may take to reach the hub once its socket has closed.
	goodbyeTime = 5 * time.Second
)

var (
	errSocketBroken = errors.New("the page's socket broke")
	errWindowEnded  = errors.New("the window has ended")
	errNoHello      = errors.New("the page has said nothing")
)

type attachStream = grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]

// serveSocket makes a window of a socket, and returns when it has ended. (The context of the request is not usable:
// net/http stops watching a connection that it hands over, and may end the context because of that.)
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
	if !s.proves(serving, socket) {
		closeSocket(socket, &verdict{linkNeeded, s.options.Another})
		return
	}
	socket.SetReadLimit(maxMessage)
	ctx, end := context.WithCancelCause(serving)
	defer end(errWindowEnded)
	stream, err := s.options.Editor.Attach(ctx)
	if err != nil {
		closeSocket(socket, verdictOf(err))
		return
	}
	b := &bridge{options: &s.options, socket: socket, stream: stream, end: end, heard: make(chan struct{})}
	// The end of a context cuts the socket off at once, but the verdict of tell has to reach the page.
	go b.hear(context.WithoutCancel(serving))
	v := b.tell(ctx)
	end(errWindowEnded)
	closeSocket(socket, v) // also ends the reading
	<-b.heard
}

// proves reads the first message of a socket, and reports whether it admits the page.
func (s *Server) proves(serving context.Context, socket *websocket.Conn) bool {
	defer s.unproven.add(socket)()
	socket.SetReadLimit(proofBytes)
	ctx, done := context.WithTimeoutCause(serving, proofTime, errNoHello)
	defer done()
	var p Proof
	kind, text, err := socket.Read(ctx)
	return err == nil && kind == websocket.MessageText && json.Unmarshal(text, &p) == nil && s.access.admits(p)
}

// unproven bounds the sockets that have proved nothing yet. The one that has waited longest gives way to a new one: a
// page sends its proof at once, so whoever is silent keeps none out.
type unproven struct {
	most int

	mu      sync.Mutex
	sockets []*websocket.Conn // the longest waiting first
}

// add adds a socket until remove is called.
func (u *unproven) add(socket *websocket.Conn) (remove func()) {
	u.mu.Lock()
	var surplus *websocket.Conn
	if len(u.sockets) == u.most {
		surplus, u.sockets = u.sockets[0], u.sockets[1:]
	}
	u.sockets = append(u.sockets, socket)
	u.mu.Unlock()
	if surplus != nil {
		_ = surplus.CloseNow()
	}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.sockets = slices.DeleteFunc(u.sockets, func(other *websocket.Conn) bool { return other == socket })
	}
}

// bridge is one window: one goroutine passes the page's messages to the hub, another one passes the hub's messages to
// the page.
//
// How the socket ends decides how the stream ends, since that decides what happens to the window (docs/protocol.md). A
// close with 1000 means that the page has closed the window for good, and becomes a close_window. Anything else becomes
// a break, after which the window may come back. This includes 1001, since a browser sends it for a page that is
// reloaded as well as for one that is closed (HTML, "make disappear a WebSocket object").
type bridge struct {
	options *Options // of the server
	socket  *websocket.Conn
	stream  attachStream
	end     context.CancelCauseFunc // breaks the stream

	heard chan struct{} // closed by hear at its end; over is written before
	over  bool          // the page has closed the window for good
}

// closeWindow is what the hub is told when the page was closed for good.
var closeWindow = &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CloseWindow{
	CloseWindow: &mcphubv1.CloseWindow{},
}}

// hear passes on the page's messages until the socket or the stream ends. An invalid message breaks the stream, with a
// verdict for the page. Other windows are not affected.
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
			_ = b.stream.Send(closeWindow) // its error is that of the stream, which tell gets
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
		if !b.options.ConfigWrites && refused == nil {
			refused = writesConfig(message)
		}
		atRegistry(message, b.options.Registry)
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

// tell passes on the hub's messages until the stream ends, and returns the verdict with which the socket is to be
// closed.
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
			// The page may have closed the window for good, which must reach the hub: a break would keep the window.
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
	// If the window ends in the middle of a message, the message is finished first, if the browser reads it.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWriteTime, done) })()
	return b.socket.Write(writing, websocket.MessageText, text)
}

// saidGoodbye reports whether the page has closed the window for good. The socket has ended, so hear ends at once,
// unless the hub does not take the page's last message.
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

// verdict is what a page is told about the end of its window. It is an error so that it can be the cause of a context.
type verdict struct {
	code   websocket.StatusCode
	reason string
}

func (v *verdict) Error() string { return v.reason }

var (
	windowOver  = &verdict{websocket.StatusNormalClosure, "the window has ended"}
	serverStops = &verdict{websocket.StatusGoingAway, "mcphub has ended"}
)

// statusBase plus the number of a gRPC code is the close code for a stream that ended with that code: 4008 is
// RESOURCE_EXHAUSTED, WINDOW_TOO_SLOW, and 4014 is UNAVAILABLE, DRAINING. RFC 6455 leaves 4000 to 4999 to applications.
const statusBase = 4000

// linkNeeded is the close code for a socket that has not proved that its page may have a window. Its reason is how to
// get a link.
const linkNeeded = statusBase + websocket.StatusCode(codes.Unauthenticated)

// maxReason is the number of bytes for the reason in a close frame (RFC 6455, section 5.5: 125 bytes with the code).
const maxReason = 123

// verdictOf returns the verdict for the end of a stream. Its reason is "REASON: message".
func verdictOf(err error) *verdict {
	code, message := status.Code(err), status.Convert(err).Message()
	if f, ok := host.ErrorOf(err); ok {
		message = f.Message
		if f.Reason != "" {
			message = f.Reason + ": " + message
		}
	}
	return &verdict{statusBase + websocket.StatusCode(code), message}
}

// badMessage returns the verdict for a frame that is not a message of the contract. It looks like the hub's
// INVALID_ARGUMENT.
func badMessage(err error) *verdict {
	return &verdict{statusBase + websocket.StatusCode(codes.InvalidArgument),
		"INVALID_MESSAGE: the frame is no AttachRequest in proto3 JSON: " + err.Error()}
}

// writesConfig returns the reply to a message that would write a config file, read one for that, or find a server to
// add, if pages may not do that. It returns nil for any other message.
func writesConfig(m *mcphubv1.AttachRequest) *mcphubv1.AttachResponse {
	method := m.GetCall().GetMethod()
	if m.GetChooseBundle() == nil && !of(&mcphubv1.ConfigService_ServiceDesc, method) &&
		!of(&mcphubv1.RegistryService_ServiceDesc, method) {
		return nil
	}
	return denied(m, "CONFIG_WRITES_OFF", "This page may not change config files; use mcphub config. Nothing was written.")
}

// of reports whether the service has a method with that path.
func of(service *grpc.ServiceDesc, path string) bool {
	return strings.HasPrefix(path, "/"+service.ServiceName+"/")
}

// namesFile returns the reply to a message that makes the hub read a file of this computer, or that needs a file
// dialog. It returns nil for any other message.
func namesFile(m *mcphubv1.AttachRequest) *mcphubv1.AttachResponse {
	if m.GetChooseBundle() == nil {
		var r mcphubv1.ReadBundleRequest
		if m.GetCall().GetRequest().UnmarshalTo(&r) != nil || r.GetPath() == "" {
			return nil // the hub takes no other message for a ReadBundleRequest
		}
	}
	return denied(m, "BUNDLE_NOT_CHOSEN", "A page in a browser cannot name a file; use mcphub config add --bundle.")
}

func denied(m *mcphubv1.AttachRequest, reason, text string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Reply{Reply: &mcphubv1.Reply{
		MessageId: m.GetMessageId(),
		Error:     &mcphubv1.HubError{Code: "PERMISSION_DENIED", Reason: reason, Message: text},
	}}}
}

// atRegistry sets the registry in a message that asks one: the page does not choose it. The hub refuses a message whose
// type is not the one of its method.
func atRegistry(m *mcphubv1.AttachRequest, address string) {
	in := m.GetCall().GetRequest()
	var search mcphubv1.SearchRegistryRequest
	if in.UnmarshalTo(&search) == nil {
		search.RegistryUrl = address
		_ = in.MarshalFrom(&search) // cannot fail: it has just been unmarshalled
	}
	var get mcphubv1.GetRegistryServerRequest
	if in.UnmarshalTo(&get) == nil {
		get.RegistryUrl = address
		_ = in.MarshalFrom(&get)
	}
}

// closeSocket closes the socket with a verdict. A socket that is closed already keeps its close code.
func closeSocket(socket *websocket.Conn, v *verdict) { _ = socket.Close(v.code, closeText(v.reason)) }

// closeText cuts a text to the size for a close frame, at a whole character.
func closeText(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxReason {
		return text
	}
	end := maxReason - len("...")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
