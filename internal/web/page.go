package web

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// pageFile is the page itself, which is a template. Every other file is sent unchanged.
const pageFile = "page.html"

// contentTypes are the types of the files that are served. Other files in the folder are not served.
var contentTypes = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
}

// served is one file that is served.
type served struct {
	contentType string
	text        []byte
}

// page is what is sent to a browser: a template, which is filled for each request, and the files that it names. It is
// never modified.
type page struct {
	template string
	writes   bool              // see Options.ConfigWrites
	demo     *Demo             // see Options.Demo
	files    map[string]served // by name, including folders
}

// leftToken matches a token that was not replaced.
var leftToken = regexp.MustCompile(`\{\{[^}]*\}?\}?`)

// namedFile matches the files that the template names.
var namedFile = regexp.MustCompile(`\{\{base\}\}([^"'\s>]+)`)

// readPage reads all files that will be served, so that no name in a request reaches a file system.
func readPage(files fs.FS) (*page, error) {
	template, err := fs.ReadFile(files, pageFile)
	if err != nil {
		return nil, fmt.Errorf("the page is missing: %w", err)
	}
	p := &page{template: string(template), files: map[string]served{}}
	if left := leftToken.FindString(p.fill("127.0.0.1:1", "nonce", "")); left != "" {
		return nil, fmt.Errorf("%s has %s, which nobody fills", pageFile, left)
	}
	err = fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		contentType, ok := contentTypes[path.Ext(name)]
		if !ok || !e.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		p.files[name] = served{contentType, text}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, named := range namedFile.FindAllStringSubmatch(p.template, -1) {
		if _, ok := p.files[named[1]]; !ok {
			return nil, fmt.Errorf("%s names %s, which is not there or of no type that is served", pageFile, named[1])
		}
	}
	return p, nil
}

// fill returns the page for one request to host. frames is the address of the outer frame of views, or "" if no views
// are shown.
func (p *page) fill(host, nonce, frames string) string {
	var apps []string
	if frames != "" {
		apps = []string{frames}
	}
	surface, err := json.Marshal(struct {
		Kind         string   `json:"kind"`
		OpensURL     bool     `json:"opensUrls"`
		Socket       string   `json:"socket"`
		ConfigWrites bool     `json:"configWrites,omitempty"`
		Demo         *Demo    `json:"demo,omitempty"`
		Apps         []string `json:"apps,omitempty"`
	}{"web", true, socketPath, p.writes, p.demo, apps})
	if err != nil {
		panic(err) // strings and bools always marshal
	}
	return strings.NewReplacer(
		"{{csp}}", html.EscapeString(policy(host, nonce, frames)),
		"{{nonce}}", html.EscapeString(nonce),
		"{{base}}", "/",
		"{{body_class}}", "",
		"{{surface}}", html.EscapeString(string(surface)),
	).Replace(p.template)
}

// newNonce returns a nonce for one page.
func newNonce() string { return rand.Text() }

// policy returns the content security policy of the page, as far as a meta element can express it.
func policy(host, nonce, frames string) string {
	framed := ""
	if frames != "" {
		framed = "frame-src " + frames + "; "
	}
	return "default-src 'none'; " + framed + "script-src 'nonce-" + nonce + "'; style-src 'self' 'nonce-" + nonce +
		"'; img-src 'self' data:; media-src data:; " +
		"connect-src ws://" + host + "; base-uri 'none'; form-action 'none'"
}

// notFramed can only be set by a header (CSP3, "frame-ancestors": ignored in a meta element).
const notFramed = "; frame-ancestors 'none'"

// closedPolicy is the policy of everything except the page.
const closedPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'" + notFramed

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
