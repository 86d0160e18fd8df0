package web

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
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
	page     *page
	editor   mcphubv1.EditorServiceClient
	another  string
	access   *access
	unproven unproven
	sandbox  *sandbox // nil: no views

	configWrites bool   // see Options
	registry     string // see Options

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
		page:     p,
		editor:   o.Editor,
		another:  o.Another,
		access:   &access{},
		unproven: unproven{most: mostUnproven},

		configWrites: o.ConfigWrites,
		registry:     o.Registry,
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
