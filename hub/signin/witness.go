package signin

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// witness is the round tripper of one flow. It records what the libraries do not return of the metadata, and the
// secrets of token requests, which a peer may echo. It is used only by the flow's goroutine.
type witness struct {
	next    http.RoundTripper
	answers []seenAnswer // to GETs since the last forget
	sent    []string     // secrets
}

// seenAnswer is one answer. A redirected request has one for each hop.
type seenAnswer struct {
	status int
	header http.Header
	body   []byte
}

// secretFields are parameters of token requests that a peer may echo in its error, where they must not be shown.
var secretFields = []string{"code", "code_verifier", "client_secret", "client_assertion", "assertion", "subject_token",
	"refresh_token"}

// hide adds secrets that must not appear in the errors of this flow.
func (w *witness) hide(secrets ...string) { w.sent = append(w.sent, secrets...) }

func (w *witness) forget() { w.answers = nil }

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		w.note(req)
		return w.next.RoundTrip(req)
	}
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body) // bounded by the guard
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	w.answers = append(w.answers, seenAnswer{resp.StatusCode, resp.Header, body})
	return resp, nil
}

// note records the secrets of a token request.
func (w *witness) note(req *http.Request) {
	if _, basic, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok {
		w.hide(basic)
	}
	if req.GetBody == nil {
		return
	}
	body, err := req.GetBody()
	if err != nil {
		return
	}
	text, err := io.ReadAll(body)
	if form, invalid := url.ParseQuery(string(text)); err == nil && invalid == nil {
		for _, name := range secretFields {
			w.hide(form[name]...)
		}
	}
}

// absent reports whether nothing exists at the address that was asked for since the last forget: the status says so or,
// if the address was guessed, the answer is a page for people, which some sites show for every address.
func (w *witness) absent(guessed bool) bool {
	if len(w.answers) == 0 {
		return false
	}
	first := w.answers[0]
	return first.status/100 == 4 || guessed && !strings.HasPrefix(first.header.Get("Content-Type"), "application/json")
}

// proofAlgorithms returns a list in the authorization server's metadata that the SDK leaves out (RFC 9449 section 5.1).
// The metadata must be the last answer.
func (w *witness) proofAlgorithms() []string {
	var meta struct {
		Algorithms []string `json:"dpop_signing_alg_values_supported"`
	}
	if len(w.answers) == 0 || json.Unmarshal(w.answers[len(w.answers)-1].body, &meta) != nil {
		return nil
	}
	return meta.Algorithms
}
