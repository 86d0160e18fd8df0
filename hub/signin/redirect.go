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
	pageLimit    = 2 * time.Second // for the browser to take the page
)

var errPageSlow = errors.New("the browser took its page too slowly")

// redirect is the listener to which the authorization server sends the browser back (RFC 8252 section 7.3). It exists
// only while a flow runs, listens on loopback, and takes one answer: the first that carries the state of its flow.
type redirect struct {
	// URL is the redirect URI, by address: RFC 8252 section 8.3 advises against localhost.
	URL string
	// Answered is closed once the browser has come with the right state; answer gives its query then.
	Answered chan struct{}

	server *http.Server
	served chan struct{} // closed when the listener's goroutine has ended

	mu    sync.Mutex // guards state and query
	state string     // "" as long as no authorization URL was made: nothing fits
	query url.Values
}

// listener opens the socket. It is a field of the SignIn, so that tests with fake time need no sockets.
type listener func(ctx context.Context, address string) (net.Listener, error)

func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
}

// openRedirect listens on port; 0 takes a free one, and wanted, if it is not 0, is tried before that.
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
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		MaxHeaderBytes: 32 << 10, ConnState: bounds.NewConnections(bounds.PageConnections).Noted,
		ErrorLog: log.New(io.Discard, "", 0)} // its default is the process's stderr, which is not ours
	r.server.SetKeepAlivesEnabled(false)
	go func() { // ended by close, which waits for it
		defer close(r.served)
		_ = r.server.Serve(ln)
	}()
	return r, nil
}

// expect says which state belongs to the flow. Until then no answer fits.
func (r *redirect) expect(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
}

// answer is the query of the redirect; after Answered only.
func (r *redirect) answer() url.Values {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.query
}

// close ends the listener. A page that is being sent gets a moment.
func (r *redirect) close() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), pageLimit, errPageSlow)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		_ = r.server.Close()
	}
	<-r.served
}

// ServeHTTP takes the browser's return.
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
	// What the authorization server says of an error is not shown: it may not be the right one (RFC 9207 section 2.4).
	if query.Get("error") != "" {
		page(w, http.StatusOK, "The sign-in was not completed. You can close this window.")
	} else {
		page(w, http.StatusOK, "You can close this window.")
	}
	close(r.Answered)
}

// take decides which request is the answer: the first with the right state.
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

// portOf is the port of a redirect URI of ours; 0 when there is none.
func portOf(redirectURL string) int {
	u, err := url.Parse(redirectURL)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}
