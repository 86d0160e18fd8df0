package web

import (
	"crypto/rand"
	"io/fs"
	"net"
	"net/http"
	"regexp"
	"strconv"
)

// Views of tool calls (MCP Apps 2026-01-26, "Sandbox proxy") are pages that servers wrote. The page shows them in an
// outer frame that is served here, from another origin: another port, and the other one of the two names of this
// machine. The other name is another site as well, so browsers give it its own process. The frame holds no data of
// value to an attacker. The policy of the view in it comes from the page, in the address.

// sandboxFile is the name of the outer frame among the files of the page.
const sandboxFile = "apps/sandbox.html"

// policyParameter is the parameter with the policy of a view.
const policyParameter = "csp"

// viewPolicy matches valid policies: they begin by allowing nothing, and fit on one line of a header.
var viewPolicy = regexp.MustCompile(`^default-src 'none'; [\x20-\x7e]+$`)

// policyBytes bounds a policy, since it is part of an address.
const policyBytes = 8000

// sandboxTries bounds the search for a port that is free at both addresses.
const sandboxTries = 20

// ListenSandbox opens a port for the frames of views, only on this machine. It uses both loopback addresses if the
// machine has both: a browser may try either for the name localhost, and no other program may answer there.
func ListenSandbox() ([]net.Listener, error) {
	var err error
	for range sandboxTries {
		var four, six net.Listener
		if four, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			return nil, err
		}
		port := four.Addr().(*net.TCPAddr).Port
		if six, err = net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port))); err == nil {
			return []net.Listener{four, six}, nil
		}
		other, none := net.Listen("tcp6", "[::1]:0")
		if none != nil {
			return []net.Listener{four}, nil // this machine has no such address
		}
		_ = other.Close()
		_ = four.Close()
	}
	return nil, err
}

// sandbox serves the outer frame of views.
type sandbox struct {
	listeners []net.Listener
	html      []byte
	port      string
	path      string // cannot be guessed: other pages cannot detect it
	address   string // of the frame
	ancestors string
}

// newSandbox returns the sandbox of a page that is served at host. It owns the listeners.
func newSandbox(listeners []net.Listener, files fs.FS, host string) (*sandbox, error) {
	html, err := fs.ReadFile(files, sandboxFile)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(listeners[0].Addr().String())
	if err != nil {
		return nil, err
	}
	path := "/" + rand.Text()
	return &sandbox{listeners: listeners, html: html, port: port, path: path,
		address: "http://localhost:" + port + path, ancestors: "frame-ancestors http://" + host}, nil
}

func (s *sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	policy := r.URL.Query().Get(policyParameter)
	if r.Host != "localhost:"+s.port || r.Method != http.MethodGet || r.URL.Path != s.path ||
		len(policy) > policyBytes || !viewPolicy.MatchString(policy) {
		h.Set("Content-Security-Policy", closedPolicy)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	h.Set("Content-Security-Policy", policy)
	h.Add("Content-Security-Policy", "sandbox allow-scripts allow-same-origin; "+s.ancestors)
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), clipboard-read=(), clipboard-write=(), "+
		"display-capture=(), usb=(), serial=(), hid=(), bluetooth=(), payment=(), fullscreen=()")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(s.html) // an error is ignored: the browser has gone
}
