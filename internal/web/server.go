// Package web serves the editor's page to a browser on this machine: the files of the page over HTTP on loopback, and a
// WebSocket for each tab, which is one window of a hub. With it, mcphub shows the page without an editor.
//
// Every program on this machine can reach a loopback port and, through a browser, so can every web page in the world.
// So no window is opened without a session, a session begins with a link that is valid once, and each request must name
// this server as its host and its origin (docs/adr/0022-page-without-editor.md). The page keeps its session for its own
// origin, and sends it in the first message on its socket alone (docs/adr/0061-proof-of-a-page.md).
//
// The messages are those of docs/protocol.md, as proto3 JSON, one in each text frame. What must not live here:
// knowledge of the content of the messages, and the page itself.
package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"html"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// socketPath is the path of the page's WebSocket.
const socketPath = "/stream"

// Limits of HTTP itself. A browser on this machine needs a fraction of each; they are for other clients.
const (
	headerTime  = 5 * time.Second
	readTime    = 10 * time.Second
	writeTime   = 30 * time.Second
	idleTime    = time.Minute
	headerBytes = 16 << 10
	// stopTime bounds the wait for answers in progress when the server stops.
	stopTime = 2 * time.Second
)

// Options of New. Files and Editor are required.
type Options struct {
	// Files holds page.html, a template, at the root, and the scripts and styles that are used.
	Files fs.FS
	// Editor is the service to which the windows are attached.
	Editor mcphubv1.EditorServiceClient
	// Sandbox are the listeners of ListenSandbox, for the frames of views. Without them the page shows no views.
	Sandbox []net.Listener
	// Another says, in a sentence for people, how to get another link.
	Another string
	// ConfigWrites allows pages to change config files, and to read their entries for that.
	ConfigWrites bool
	// Registry is the address of the registry that pages search. If it is "", the hub answers that none is chosen.
	Registry string
	// Demo is the demo server that a page offers to add if it may write config files; nil means none.
	Demo *Demo
}

// Demo describes the demo server that a page can add to a config file.
type Demo struct {
	Server    string `json:"server"`  // its name
	Command   string `json:"command"` // the page recognizes the server by it
	EntryJSON string `json:"entryJson"`
}

// Server serves the page. Its methods may be called from any goroutine.
type Server struct {
	listener net.Listener
	host     string // the only allowed value of the header Host
	options  Options
	page     *page
	access   *access
	unproven unproven
	sandbox  *sandbox // nil: no views

	windows sync.WaitGroup // the sockets, for which net/http does not wait
}

// Listen opens a port that only this machine can reach; 0 means any free one.
func Listen(port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// New returns a server for a listener of Listen, which it owns. Nothing is served before Serve.
func New(l net.Listener, o Options) (*Server, error) {
	p, err := readPage(o.Files)
	if err != nil {
		return nil, err
	}
	p.writes = o.ConfigWrites
	if o.ConfigWrites {
		p.demo = o.Demo
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	s := &Server{
		listener: l,
		host:     "127.0.0.1:" + port, // for localhost a browser may ask another address, where somebody else may listen
		options:  o,
		page:     p,
		access:   &access{},
		unproven: unproven{most: mostUnproven},
	}
	if len(o.Sandbox) > 0 {
		if s.sandbox, err = newSandbox(o.Sandbox, o.Files, s.host); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Link returns a new address for a browser. It is valid once, and makes the previous one invalid.
func (s *Server) Link() string {
	return "http://" + s.host + "/?" + url.Values{tokenParameter: {s.access.mint()}}.Encode()
}

// errStopping is the cause with which the windows end when the server stops.
var errStopping = errors.New("the server of the page is stopping")

// Serve serves until ctx ends, or until the listener fails, and then returns its error. When it returns, every window
// has ended.
func (s *Server) Serve(ctx context.Context) error {
	serving, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	server := httpServer(s.handler(serving))
	defer s.serveSandbox()()
	broken := make(chan error, 1)
	go func() { broken <- server.Serve(s.listener) }()
	var err error
	select {
	case err = <-broken:
		stop(errStopping)
		_ = server.Close()
	case <-ctx.Done():
		stop(errStopping) // before Shutdown, so that the windows end while the answers do
		patience, done := context.WithTimeoutCause(context.WithoutCancel(ctx), stopTime, errStopping)
		if server.Shutdown(patience) != nil {
			_ = server.Close()
		}
		done()
		if ended := <-broken; !errors.Is(ended, http.ErrServerClosed) {
			err = ended
		}
	}
	s.windows.Wait()
	return err
}

func httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           bounds.WithoutBodies(h),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ConnState:         bounds.NewConnections(bounds.PageConnections).Noted,
		ErrorLog:          log.New(io.Discard, "", 0), // errors of unknown clients are not logged
	}
}

// serveSandbox serves the frames of views until end is called, which waits until serving has ended.
func (s *Server) serveSandbox() (end func()) {
	if s.sandbox == nil {
		return func() {}
	}
	server := httpServer(s.sandbox)
	var serving sync.WaitGroup
	for _, l := range s.sandbox.listeners {
		serving.Go(func() { _ = server.Serve(l) }) // without it views are not shown, and the page says so
	}
	return func() {
		_ = server.Close()
		serving.Wait()
	}
}

// secret is the hash of a random text. All hashes have the same length, so a comparison reveals nothing, and a stored
// hash gives no access.
type secret [sha256.Size]byte

func secretOf(text string) secret { return sha256.Sum256([]byte(text)) }

func (s secret) is(text string) bool {
	other := secretOf(text)
	return subtle.ConstantTimeCompare(s[:], other[:]) == 1
}

// Proof is the first message on a page's socket, as JSON. It is no part of the contract with the hub, and does not
// reach it.
type Proof struct {
	// Session is a random text that the page has made. It counts from the first socket on that has brought a valid token
	// with it.
	Session string `json:"session"`
	// Token is that of the link with which the page was opened; "" if the page was opened before.
	Token string `json:"token,omitempty"`
}

// The length of a session, in bytes: a page sends two random UUIDs.
const minSession, maxSession = 32, 128

// access decides whose socket is admitted: that of the holder of the present token, once, and those of the sessions
// that came with one. No cookie is used: a browser sends the cookies of a host to every port of it, of whichever user.
// The token is one of crypto/rand.Text: at least 128 bits.
type access struct {
	// mu guards the fields below.
	mu       sync.Mutex
	token    *secret // nil: no token is valid
	sessions []secret
}

// mint creates a token. The previous token becomes invalid, used or not: a link that was left somewhere stops working
// with the next one.
func (a *access) mint() string {
	text := rand.Text()
	s := secretOf(text)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = &s
	return text
}

// admits reports whether a socket is admitted. A token works once. It compares with every session, to take the same
// time for each.
func (a *access) admits(p Proof) bool {
	if len(p.Session) < minSession || len(p.Session) > maxSession {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	found := false
	for _, s := range a.sessions {
		if s.is(p.Session) {
			found = true
		}
	}
	if found || a.token == nil || !a.token.is(p.Token) {
		return found
	}
	a.token = nil
	a.sessions = append(a.sessions, secretOf(p.Session))
	return true
}

// tokenParameter carries the token in a link. The page takes it from its address, which has no token afterwards.
const tokenParameter = "token"

// handler answers every request. Its checks are in this order: first the host name (a web page whose name was made to
// resolve to this machine is recognized by it), then the origin, and only then the method and the path. The files are
// for everybody on this machine, who has this program as well; a window is for whoever proves that the page may have
// one (see Proof). Windows last until serving ends.
func (s *Server) handler(serving context.Context) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", closedPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case r.Host != s.host:
			refuse(w, http.StatusMisdirectedRequest, "This is another place", "This server is reached as "+s.host+" alone.")
		case !s.ownOrigin(r):
			refuse(w, http.StatusForbidden, "Not from there", "Another page has no business here.")
		case r.Method != http.MethodGet:
			h.Set("Allow", http.MethodGet)
			refuse(w, http.StatusMethodNotAllowed, "Not like this",
				"Everything here is read; what a person does goes over the page's own connection.")
		case r.ContentLength != 0:
			refuse(w, http.StatusRequestEntityTooLarge, "Too much", "A request for something to read has nothing to send.")
		default:
			s.serve(serving, w, r)
		}
	})
}

// ownOrigin reports whether the origin of a request is allowed. Browsers send an origin with every socket and with
// every request that is not a plain read; a plain read within the page has none.
func (s *Server) ownOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return r.Method == http.MethodGet && r.URL.Path != socketPath
	}
	return len(origins) == 1 && origins[0] == "http://"+s.host
}

// serve answers a request of this origin.
func (s *Server) serve(serving context.Context, w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		nonce := newNonce()
		frames := ""
		if s.sandbox != nil {
			frames = s.sandbox.address
		}
		w.Header().Set("Content-Security-Policy", policy(s.host, nonce, frames)+notFramed)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, s.page.fill(s.host, nonce, frames)) // an error is ignored: the browser has gone
	case socketPath:
		s.serveSocket(serving, w, r)
	case "/favicon.ico":
		w.WriteHeader(http.StatusNoContent) // browsers ask for it in any case
	default:
		file, ok := s.page.files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			refuse(w, http.StatusNotFound, "There is nothing here", "The page is at /.")
			return
		}
		w.Header().Set("Content-Type", file.contentType)
		_, _ = w.Write(file.text)
	}
}

// refuse answers with a page for people. It contains nothing of the request.
func refuse(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>McpHub: "+
		html.EscapeString(title)+"</title>\n<h1>"+
		html.EscapeString(title)+"</h1>\n<p>"+html.EscapeString(text)+"</p>\n</html>\n")
}
