package web

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"path"
	"regexp"
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
