package signin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// replay is the round tripper of one flow. It answers a second request for the same metadata with the first answer: the
// flow looks at the metadata before the SDK's handler does, and both must see the same, or what the person consented to
// and what is used could differ. It answers a registration with one that was made earlier, if that still fits, and
// keeps a new one.
type replay struct {
	next http.RoundTripper

	// endpoint, redirect and kept are set before the registration, by the flow's goroutine.
	endpoint string
	redirect string
	kept     *Registration // nil: none fits

	mu       sync.Mutex // guards what follows
	seen     map[string]*kept
	newest   *kept         // the last of seen that was got
	made     *Registration // the registration of this flow, kept or new
	reusedIt bool
	sent     []string // secrets that went to token endpoints
}

// secretFields are parameters of token requests that a peer may echo in its error, and that must not be seen there.
var secretFields = []string{"code", "code_verifier", "client_secret", "client_assertion", "assertion", "subject_token",
	"refresh_token"}

// note remembers the secrets that go out with a token request: the SDK's handler makes the request, and some of them.
func (r *replay) note(req *http.Request) {
	if req.GetBody == nil {
		return
	}
	body, err := req.GetBody()
	if err != nil {
		return
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range secretFields {
		r.sent = append(r.sent, form[name]...)
	}
	if _, basic, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok {
		r.sent = append(r.sent, basic)
	}
}

// secrets lists what must not be seen in the errors of this flow.
func (r *replay) secrets() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.sent)
	if r.made != nil {
		list = append(list, r.made.secret())
	}
	return list
}

// kept is one answer.
type kept struct {
	status int
	header http.Header
	body   []byte
}

func (k *kept) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", k.status, http.StatusText(k.status)), StatusCode: k.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: k.header.Clone(), ContentLength: int64(len(k.body)), Body: io.NopCloser(bytes.NewReader(k.body)),
	}
}

// RoundTrip implements http.RoundTripper.
func (r *replay) RoundTrip(req *http.Request) (*http.Response, error) {
	registering := req.Method == http.MethodPost && r.endpoint != "" && req.URL.String() == r.endpoint
	switch {
	case registering && r.kept != nil:
		if req.Body != nil {
			req.Body.Close()
		}
		r.mu.Lock()
		r.made, r.reusedIt = r.kept, true
		r.mu.Unlock()
		header := http.Header{"Content-Type": {"application/json"}}
		return (&kept{http.StatusCreated, header, r.kept.Response}).response(req), nil
	case req.Method != http.MethodGet && !registering:
		r.note(req)
		return r.next.RoundTrip(req)
	}
	if !registering {
		r.mu.Lock()
		k := r.seen[req.URL.String()]
		r.mu.Unlock()
		if k != nil {
			return k.response(req), nil
		}
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body) // bounded by the guard
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	k := &kept{resp.StatusCode, resp.Header.Clone(), body}
	k.header.Del("Content-Length")
	r.mu.Lock()
	defer r.mu.Unlock()
	if registering {
		if resp.StatusCode/100 == 2 && json.Valid(body) {
			r.made = &Registration{Endpoint: r.endpoint, RedirectURL: r.redirect, Response: body}
		}
	} else {
		if r.seen == nil {
			r.seen = map[string]*kept{}
		}
		r.seen[req.URL.String()], r.newest = k, k
	}
	return k.response(req), nil
}

// absent reports whether nothing is to be had at address: a status that says so or, where nobody has named it, a page
// for people, as sites show for every address.
func (r *replay) absent(address string, guessed bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.seen[address]
	if k == nil {
		return false
	}
	return k.status/100 == 4 || guessed && !strings.HasPrefix(k.header.Get("Content-Type"), "application/json")
}

// proofAlgorithms reads a list that the SDK leaves out of an authorization server's metadata (RFC 9449 section 5.1).
// The metadata has to be the last thing that was got.
func (r *replay) proofAlgorithms() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var meta struct {
		Algorithms []string `json:"dpop_signing_alg_values_supported"`
	}
	if r.newest == nil || json.Unmarshal(r.newest.body, &meta) != nil {
		return nil
	}
	return meta.Algorithms
}

// registration is what this flow registered with; reused tells that it was made by an earlier one.
func (r *replay) registration() (made *Registration, reused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made, r.reusedIt
}

// Registration is a client that the authorization server let us register (RFC 7591).
type Registration struct {
	// Endpoint is where it was registered, RedirectURL the redirect URI it was registered with.
	Endpoint    string `json:"endpoint"`
	RedirectURL string `json:"redirectUrl"`
	// Response is the server's answer as it came. It may hold a client secret.
	Response json.RawMessage `json:"response"`
}

// secret is the client secret; "" when there is none.
func (g *Registration) secret() string {
	var r struct {
		Secret string `json:"client_secret"`
	}
	if g == nil || json.Unmarshal(g.Response, &r) != nil {
		return ""
	}
	return r.Secret
}

// fits reports whether g can serve a registration at endpoint for redirectURL now.
func (g *Registration) fits(endpoint, redirectURL string, now time.Time) bool {
	if g == nil || g.Endpoint != endpoint || g.RedirectURL != redirectURL {
		return false
	}
	var r struct {
		ClientID string  `json:"client_id"`
		Expires  float64 `json:"client_secret_expires_at"`
	}
	if json.Unmarshal(g.Response, &r) != nil || r.ClientID == "" {
		return false
	}
	return r.Expires == 0 || now.Add(time.Minute).Before(time.Unix(int64(r.Expires), 0))
}
