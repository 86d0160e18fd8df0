package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// sseFake is an HTTP+SSE server. It writes what the test sends on say to the stream, byte for byte, and reports on its
// other channels what comes and ends.
type sseFake struct {
	endpoint string // the endpoint event's data; "" for none
	say      chan string
	opened   chan *http.Request // each GET that came
	left     chan struct{}      // each stream that has ended
	posts    chan ssePosted     // each POST that came
	// open, when set, answers the GET, unless it returns false.
	open func(w http.ResponseWriter, r *http.Request) bool
	// post, when set, answers POSTs in place of 202.
	post func(w http.ResponseWriter, r *http.Request, body string)
}

type ssePosted struct {
	body   string
	path   string
	header http.Header
}

func newSSEFake() *sseFake {
	return &sseFake{
		endpoint: "/messages?session=1", say: make(chan string), opened: make(chan *http.Request, 100),
		left: make(chan struct{}, 100), posts: make(chan ssePosted, 1000),
	}
}

func (f *sseFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		f.posts <- ssePosted{string(body), r.URL.String(), r.Header}
		if f.post != nil {
			f.post(w, r, string(body))
		} else {
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, "Accepted")
		}
		return
	}
	f.opened <- r
	defer func() { f.left <- struct{}{} }()
	if f.open != nil && f.open(w, r) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flush := w.(http.Flusher).Flush
	if f.endpoint != "" {
		io.WriteString(w, "event: endpoint\ndata: "+f.endpoint+"\n\n")
	}
	flush()
	for {
		select {
		case text, ok := <-f.say:
			if !ok {
				return
			}
			io.WriteString(w, text)
			flush()
		case <-r.Context().Done():
			return
		}
	}
}

// listen serves the fake on the loopback.
func (f *sseFake) listen(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL + "/sse"
}

// ssePipes is a network in memory, so that it works in a synctest bubble. It counts the open connections of the client.
type ssePipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open int // guarded by mu
}

type ssePipe struct {
	net.Conn
	once sync.Once
	of   *ssePipes
}

func (p *ssePipe) Close() error {
	p.once.Do(func() {
		p.of.mu.Lock()
		p.of.open--
		p.of.mu.Unlock()
	})
	return p.Conn.Close()
}

// serve serves f on a network in memory until the test ends, and returns a client for it. It is for synctest bubbles.
func (f *sseFake) serve(t *testing.T) (*ssePipes, *http.Transport) {
	p := &ssePipes{accept: make(chan net.Conn), closed: make(chan struct{})}
	s := &http.Server{Handler: f}
	var served sync.WaitGroup
	served.Go(func() { s.Serve(p) })
	client := &http.Transport{DialContext: p.dial}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		s.Close()
		served.Wait()
	})
	return p, client
}

func (p *ssePipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accept <- theirs:
		p.mu.Lock()
		p.open++
		p.mu.Unlock()
		return &ssePipe{Conn: ours, of: p}, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *ssePipes) openConns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

func (p *ssePipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *ssePipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *ssePipes) Addr() net.Addr { return &net.TCPAddr{} }

var errSSETestOver = errors.New("the test is over")

// sseContext ends long before the test binary would be killed.
func sseContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errSSETestOver)
	t.Cleanup(cancel)
	return ctx
}

// connectSSE returns an open connection, which is closed at the end of the test.
func connectSSE(t *testing.T, o HTTPOptions) *SSE {
	t.Helper()
	c := NewSSE(o)
	t.Cleanup(func() { c.Close() })
	if err := c.Connect(sseContext(t)); err != nil {
		t.Fatal(err)
	}
	return c
}

func wantSSEMessage(t *testing.T, c *SSE, want string) {
	t.Helper()
	if got, err := c.Receive(); err != nil || string(got.Body) != want {
		t.Fatalf("read %.200q, %v, %v; want %.200q", got.Body, got.Err, err, want)
	}
}

// sendSSE sends requests whose ids are their texts.
func sendSSE(c *SSE, texts ...string) {
	for _, s := range texts {
		c.Send(Message{ID: strconv.Quote(s), Method: "x", Body: []byte(s)})
	}
}

// sentSSE sends requests one after the other: each when the POST of the one before has come.
func (f *sseFake) sentSSE(c *SSE, texts ...string) (all []ssePosted) {
	for _, s := range texts {
		sendSSE(c, s)
		all = append(all, <-f.posts)
	}
	return all
}

// sseEnd reads until the connection ends, and returns the error.
func sseEnd(c *SSE) error {
	for {
		if _, err := c.Receive(); err != nil {
			return err
		}
	}
}
