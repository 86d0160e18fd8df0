package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

const (
	redirectPath = "/callback"
	pageLimit    = 2 * time.Second // for the browser to receive the page
)

var errPageSlow = errors.New("the browser took its page too slowly")

// redirect is the listener to which the authorization server sends the browser back (RFC 8252 section 7.3). It exists
// only while a flow runs, listens on loopback, and accepts one answer: the first one that has the state of its flow.
type redirect struct {
	// URL is the redirect URI, with an IP address: RFC 8252 section 8.3 advises against localhost.
	URL string
	// Answered is closed once the browser has come with the right state; answer then returns its query.
	Answered chan struct{}

	server *http.Server
	served chan struct{} // closed when the listener's goroutine has ended

	mu    sync.Mutex // guards state and query
	state string     // "" before the authorization URL was made: no answer is accepted yet
	query url.Values
}

// listener opens the socket. It is a field of the SignIn, so that tests with fake time need no sockets.
type listener func(ctx context.Context, address string) (net.Listener, error)

func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
}

// openRedirect listens on port. If port is 0, it tries wanted first, unless that is 0, and then any free port.
func openRedirect(ctx context.Context, listen listener, port, wanted int) (*redirect, error) {
	first := port
	if port == 0 {
		first = wanted
	}
	ln, err := listen(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(first)))
	if err != nil && first != port {
		ln, err = listen(ctx, "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("no listener for the browser's return on port %d of this computer: %w", port, err)
	}
	r := &redirect{URL: "http://" + ln.Addr().String() + redirectPath, Answered: make(chan struct{}),
		served: make(chan struct{})}
	r.server = &http.Server{Handler: bounds.WithoutBodies(r), ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout: 5 * time.Second, MaxHeaderBytes: 32 << 10,
		ConnState: bounds.NewConnections(bounds.PageConnections).Noted,
		ErrorLog:  log.New(io.Discard, "", 0)} // the default is the stderr of the process, which is not the hub's
	r.server.SetKeepAlivesEnabled(false)
	go func() { // ended by close, which waits for it
		defer close(r.served)
		_ = r.server.Serve(ln)
	}()
	return r, nil
}

// expect sets the state of the flow. Before that, no answer is accepted.
func (r *redirect) expect(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
}

// answer returns the query of the redirect. It may be called only after Answered is closed.
func (r *redirect) answer() url.Values {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.query
}

// close ends the listener. It waits a moment for a page that is being sent.
func (r *redirect) close() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), pageLimit, errPageSlow)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		_ = r.server.Close()
	}
	<-r.served
}

// ServeHTTP handles the browser's return.
func (r *redirect) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != redirectPath {
		page(w, http.StatusNotFound, "There is nothing here.")
		return
	}
	if req.Method != http.MethodGet {
		page(w, http.StatusMethodNotAllowed, "There is nothing here.")
		return
	}
	query := req.URL.Query()
	if !r.take(query) {
		page(w, http.StatusBadRequest, "This is not the sign-in that is waited for.")
		return
	}
	// The error of the authorization server is not shown, since it may not be the right server (RFC 9207 section 2.4).
	if query.Get("error") != "" {
		page(w, http.StatusOK, "The sign-in was not completed. You can close this window.")
	} else {
		page(w, http.StatusOK, "You can close this window.")
	}
	close(r.Answered)
}

// take reports whether a request is the answer: the first one with the right state.
func (r *redirect) take(query url.Values) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == "" || r.query != nil || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(r.state)) != 1 {
		return false
	}
	r.query = query
	return true
}

func page(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer") // the code is in this page's address
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!doctype html><html lang=en><title>Sign-in</title><p>"+text+"</p></html>\n")
}

// portOf returns the port of a redirect URI of the hub, or 0 if there is none.
func portOf(redirectURL string) int {
	u, err := url.Parse(redirectURL)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}
