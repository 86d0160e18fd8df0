package signin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// typeDPoP is the type of a token that is bound to a key, and the scheme with which it is sent.
const typeDPoP = "DPoP"

const (
	errorUseNonce = "use_dpop_nonce"     // RFC 9449 sections 8 and 9
	errorProof    = "invalid_dpop_proof" // RFC 9449 sections 5 and 7.1
)

// binding says whether tokens are bound to a key of the hub.
type binding int

const (
	unbound  binding = iota
	bindable         // proofs are sent, but a bearer token is accepted
	bound            // no other token is accepted
)

// takes reports whether the token of e may have the binding. A token that does not have it is not refreshed, because it
// cannot be bound later.
func (b binding) takes(e *Entry) bool {
	switch b {
	case bound:
		return e.TokenType == typeDPoP
	case bindable:
		return e.ProofKey != nil
	}
	return true
}

// bindingOf returns the binding by the user's choice, the server's challenge and metadata, and the algorithms that the
// authorization server lists (RFC 9449 section 5.1, RFC 9728 section 2). It is not enough that the authorization server
// supports DPoP, because a server that does not support it refuses bound tokens.
func bindingOf(choice string, c challenge, resource *oauthex.ProtectedResourceMetadata,
	algorithms []string) (binding, error) {
	fits := func(list []string) bool { return len(list) == 0 || slices.Contains(list, proofAlgorithm) }
	must := choice == DPoPRequire || choice == DPoPAuto && resource.DPOPBoundAccessTokensRequired
	switch {
	case must && !(fits(algorithms) && fits(resource.DPOPSigningAlgValuesSupported)):
		return unbound,
			errors.New("tokens have to be bound to a key (DPoP), and none of the algorithms for it is supported here but " +
				proofAlgorithm)
	case must:
		return bound, nil
	case choice == DPoPOff, !c.dpop && len(resource.DPOPSigningAlgValuesSupported) == 0,
		!slices.Contains(algorithms, proofAlgorithm), !fits(resource.DPOPSigningAlgValuesSupported), !fits(c.algorithms):
		return unbound, nil
	}
	return bindable, nil
}

// maxNonce bounds a nonce, in bytes. maxNonces is for how many servers nonces are kept.
const (
	maxNonce  = 1 << 10
	maxNonces = 8
)

// nonces are the nonces that servers want in the next proof, by token endpoint, and under "" for the MCP server: a
// nonce is for the server that gave it (RFC 9449 sections 8 and 9). They are useless without the key, and are kept as
// long as the process runs.
type nonces struct {
	mu     sync.Mutex // guards newest
	newest map[string]string
}

func (n *nonces) of(server string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.newest[server]
}

// note records the nonce of an answer. It returns false if there is none that can be used.
func (n *nonces) note(server string, header http.Header) bool {
	values := header.Values("DPoP-Nonce")
	if len(values) != 1 || values[0] == "" || len(values[0]) > maxNonce {
		return false
	}
	for _, c := range []byte(values[0]) { // RFC 9449 section 8.1
		if c < 0x21 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.newest == nil || len(n.newest) == maxNonces && n.newest[server] == "" {
		n.newest = map[string]string{} // a lost nonce costs one more request
	}
	n.newest[server] = values[0]
	return true
}

// Observe implements transport.Authorizer. It records the nonce of an answer, and asks for one more try if the server
// wants it in the proof.
func (s *SignIn) Observe(req *http.Request, resp *http.Response) (again bool) {
	fresh := s.nonces.note("", resp.Header)
	return fresh && resp.StatusCode == http.StatusUnauthorized && req.Header.Get("DPoP") != "" &&
		challengeOf(resp).proof == errorUseNonce
}

// proofRefused returns the error for a proof that the server does not accept. Another token would not help.
func (s *SignIn) proofRefused(code string) error {
	if code == errorUseNonce {
		return &RefusedError{s.o.Server,
			"it wants a nonce in the proof that goes with the token, and does not take the one that it gave"}
	}
	return &RefusedError{s.o.Server,
		"it does not take the proof that goes with the token; this computer's clock may be wrong"}
}

// prover adds proofs to the requests to one token endpoint, and sends a request again if the endpoint wants a nonce.
type prover struct {
	next     http.RoundTripper
	endpoint string
	key      *ProofKey
	nonces   *nonces
}

// proving returns next with proofs for endpoint. If key is nil, it returns next.
func (s *SignIn) proving(next http.RoundTripper, endpoint string, key *ProofKey) http.RoundTripper {
	if key == nil {
		return next
	}
	return &prover{next: next, endpoint: endpoint, key: key, nonces: &s.nonces}
}

// RoundTrip implements http.RoundTripper.
func (p *prover) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost || req.URL.String() != p.endpoint {
		return p.next.RoundTrip(req)
	}
	body := req.Body
	for again := false; ; again = true {
		try := req.Clone(req.Context())
		try.Body = body
		proof, err := p.key.proof(req.Method, req.URL, "", p.nonces.of(p.endpoint), time.Now())
		if err != nil {
			if body != nil {
				body.Close()
			}
			return nil, err
		}
		try.Header.Set("DPoP", proof)
		resp, err := p.next.RoundTrip(try)
		if err != nil {
			return nil, err
		}
		fresh := p.nonces.note(p.endpoint, resp.Header)
		if again || !fresh || req.GetBody == nil || resp.StatusCode/100 != 4 {
			return resp, nil
		}
		wanted, err := wantsNonce(resp)
		if err != nil {
			return nil, err
		}
		if !wanted {
			return resp, nil
		}
		if body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
}

// wantsNonce reports whether the error of a token endpoint asks for a nonce. The body of resp can still be read
// afterwards.
func wantsNonce(resp *http.Response) (bool, error) {
	text, err := io.ReadAll(resp.Body) // bounded by the guard
	resp.Body.Close()
	if err != nil {
		return false, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	var answer struct {
		Error string `json:"error"`
	}
	return json.Unmarshal(text, &answer) == nil && answer.Error == errorUseNonce, nil
}
