package web

import (
	"context"
	"html"
	"io"
	"net/http"
	"strings"
)

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
