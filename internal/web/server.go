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

// socketPath is where the page finds its window.
const socketPath = "/stream"

// Limits of HTTP itself. A browser on this machine needs a fraction of each; they are for what is no browser.
const (
	headerTime  = 5 * time.Second
	readTime    = 10 * time.Second
	writeTime   = 30 * time.Second
	idleTime    = time.Minute
	headerBytes = 16 << 10
	// stopTime bounds the wait for answers under way when the server stops.
	stopTime = 2 * time.Second
)

// Options of New. Files and Editor are needed.
type Options struct {
	// Files holds page.html, a template, at the root, and the scripts and styles that it and they name.
	Files fs.FS
	// Editor is where the windows are attached.
	Editor mcphubv1.EditorServiceClient
	// Sandbox is where the frames of views are served, of ListenSandbox. Without it the page shows no views.
	Sandbox []net.Listener
	// Another says, in a sentence for people, how to get another link.
	Another string
	// ConfigWrites lets pages change config files, and read their entries for that.
	ConfigWrites bool
	// Registry is the address of the registry that pages search; "": the hub says that none is chosen.
	Registry string
	// Demo is the demo server that a page offers to add, where it may write at all; nil: none.
	Demo *Demo
}

// Demo is the demo server, as a page adds it to a config file.
type Demo struct {
	Server    string `json:"server"`  // its name
	Command   string `json:"command"` // by which the page knows it again
	EntryJSON string `json:"entryJson"`
}

// Server serves the page. Its methods may be called from any goroutine.
type Server struct {
	listener net.Listener
	hosts    [2]string // the names under which it may be asked for
	page     *page
	editor   mcphubv1.EditorServiceClient
	another  string
	access   *access
	sandbox  *sandbox // nil: no views

	configWrites bool   // as in Options
	registry     string // as in Options

	windows sync.WaitGroup // the sockets: net/http forgets what it has handed over
}

// Listen opens a port of this machine alone; 0 is any free one.
func Listen(port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// New makes a server on a listener of Listen, which it owns. Nothing is served before Serve.
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
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	s := &Server{
		listener: l,
		hosts:    [2]string{"127.0.0.1:" + port, "localhost:" + port},
		page:     p,
		editor:   o.Editor,
		another:  o.Another,
		access:   newAccess(number),

		configWrites: o.ConfigWrites,
		registry:     o.Registry,
	}
	if len(o.Sandbox) > 0 {
		if s.sandbox, err = newSandbox(o.Sandbox, o.Files, s.hosts); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Link gives a new address for a browser. It is good once, and the one before it no more.
func (s *Server) Link() string {
	return "http://" + s.hosts[0] + "/?" + url.Values{tokenParameter: {s.access.mint()}}.Encode()
}

// errStopping is why the windows end when the server stops.
var errStopping = errors.New("the server of the page is stopping")

// Serve serves until ctx ends, or the listener breaks, which is the error. When it returns every window has ended.
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
		stop(errStopping) // first, so that the windows end while the answers do
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
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ConnState:         bounds.NewConnections(bounds.PageConnections).Noted,
		ErrorLog:          log.New(io.Discard, "", 0), // what a stranger sends is nobody's news
	}
}

// serveSandbox serves the frames of views until end is called, which waits for that.
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
