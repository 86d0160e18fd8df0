package soak

import (
	"bytes"
	"cmp"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/mcphub-go/mcphub/internal/peers"
)

// journaled records in the witness what a server writes to its journal. prefix tells its sessions from another one's.
func journaled(w *witness, s *peers.Server, prefix string) {
	s.Observe(func(e peers.Event) {
		id := wireID{prefix + e.Session, string(e.ID)}
		switch {
		case e.Event == peers.EventRequest && e.Method == "notifications/cancelled":
			w.cancelled(id, e.Reason)
		case e.Event == peers.EventRequest && e.Method != "response" && e.ID != nil:
			w.asked(id, e.Tag)
		case e.Method == "notifications/cancelled" || e.Method == "response": // how these ended does not matter
		case e.Event == peers.EventDisconnected && e.ID != nil:
			w.closed(id)
		case e.Event == peers.EventAnswered && e.ID != nil:
			w.answered(id)
		}
	})
}

// tapped serves a reverse proxy in front of a server without a journal, and returns the URL to use instead. The proxy
// ends with the test.
func tapped(t *testing.T, w *witness, address string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	quiet := log.New(io.Discard, "", 0)
	// The server closes idle connections, and a request that met the close would be lost.
	trip := &http.Transport{DisableKeepAlives: true}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) },
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:      quiet,
		Transport:     trip,
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the hub closed the request before its end
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		q := r.URL.Query()
		session := cmp.Or(r.Header.Get("Mcp-Session-Id"), q.Get("sessionId"))
		w.sent(session, body)
		defer func() {
			m, _ := readMessage(body)
			switch {
			case m.Method == "" || m.ID == nil:
			case r.Context().Err() != nil:
				w.closed(wireID{session, string(m.ID)})
			default:
				w.answered(wireID{session, string(m.ID)})
			}
		}()
		proxy.ServeHTTP(rw, r)
	}))
	s.Config.ErrorLog = quiet
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		trip.CloseIdleConnections()
	})
	return s.URL + target.Path
}
