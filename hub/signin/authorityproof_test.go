package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"time"
)

// demands is how the authority of authority_test.go deals with DPoP (RFC 9449). What a client does wrong is noted as a
// fault, and fails its test.
type demands struct {
	algorithms   []string // in the metadata of the authorization server
	rsAlgorithms []string // in that of the MCP server
	rsRequired   bool     // its tokens have to be bound
	scheme       string   // of the MCP server's challenges; "" = Bearer
	ignore       bool     // the authorization server knows nothing of it
	refuse       string   // error of the MCP server for good proofs
	asNonce      string   // wanted in proofs for the token endpoint; "" none
	rsNonce      string   // wanted in proofs for the MCP server
	nextNonce    string   // given with its next good answer, and wanted from then on
	endless      bool     // no nonce is accepted

	jtis   map[string]bool
	bound  map[string]string // access and refresh tokens -> thumbprint
	faults []string
	proven []claims // of good proofs
}

type claims struct {
	JTI   string `json:"jti"`
	HTM   string `json:"htm"`
	HTU   string `json:"htu"`
	IAT   int64  `json:"iat"`
	ATH   string `json:"ath"`
	Nonce string `json:"nonce"`
	of    string // thumbprint of the key
}

func (d *demands) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf(format, args...))
}

// verify checks the proof of r as RFC 9449 section 4.3 says, except the nonce. token is "" at the token endpoint.
func (d *demands) verify(r *http.Request, uri, token string) (claims, error) {
	var c claims
	if n := len(r.Header.Values("DPoP")); n != 1 {
		return c, fmt.Errorf("%d proofs", n)
	}
	parts := strings.Split(r.Header.Get("DPoP"), ".")
	if len(parts) != 3 {
		return c, fmt.Errorf("%d parts", len(parts))
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return c, err
		}
	}
	var header struct {
		Typ, Alg string
		JWK      map[string]string
	}
	if err := json.Unmarshal(raw[0], &header); err != nil {
		return c, err
	}
	jwk := header.JWK
	if header.Typ != "dpop+jwt" || header.Alg != "ES256" || jwk["kty"] != "EC" || jwk["crv"] != "P-256" || len(jwk) != 4 ||
		len(raw[2]) != 64 {
		return c, fmt.Errorf("header %s, a signature of %d bytes", raw[0], len(raw[2]))
	}
	point := []byte{4}
	for _, name := range []string{"x", "y"} {
		text, err := base64.RawURLEncoding.Strict().DecodeString(jwk[name])
		if err != nil || len(text) != 32 {
			return c, fmt.Errorf("%s has %d bytes: %v", name, len(text), err)
		}
		point = append(point, text...)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return c, err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(raw[2][:32]), new(big.Int).SetBytes(raw[2][32:])) {
		return c, fmt.Errorf("the signature is wrong")
	}
	if err := json.Unmarshal(raw[1], &c); err != nil {
		return c, err
	}
	print := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":%q,"y":%q}`, jwk["x"], jwk["y"]))
	c.of = base64.RawURLEncoding.EncodeToString(print[:])
	ath := ""
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		ath = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	age := time.Since(time.Unix(c.IAT, 0)).Abs()
	switch {
	case c.JTI == "" || d.jtis[c.JTI]:
		return c, fmt.Errorf("jti %q was there before", c.JTI)
	case c.HTM != r.Method || c.HTU != uri:
		return c, fmt.Errorf("for %s %s, not %s %s", c.HTM, c.HTU, r.Method, uri)
	case c.ATH != ath:
		return c, fmt.Errorf("ath %q, want %q", c.ATH, ath)
	case age > 5*time.Minute:
		return c, fmt.Errorf("made %s ago", age)
	}
	if d.jtis == nil {
		d.jtis = map[string]bool{}
	}
	d.jtis[c.JTI] = true
	d.proven = append(d.proven, c)
	return c, nil
}

// nonceWanted reports whether c lacks the wanted nonce, and then sends that nonce in the header. a.mu is held.
func (a *authority) nonceWanted(w http.ResponseWriter, c claims, wanted *string) bool {
	if a.dpop.endless {
		*wanted = a.name("nonce")
	}
	if *wanted == "" || c.Nonce == *wanted && !a.dpop.endless {
		return false
	}
	w.Header().Set("DPoP-Nonce", *wanted)
	return true
}

// provenRequest checks a request to the token endpoint, and returns the thumbprint of its proof, or "" if it has none.
// If ok is false, the request was answered with an error. a.mu is held.
func (a *authority) provenRequest(w http.ResponseWriter, r *http.Request) (thumbprint string, ok bool) {
	if r.Header.Get("DPoP") == "" || a.dpop.ignore {
		return "", true
	}
	c, err := a.dpop.verify(r, issuerAS+"/token", "")
	if err != nil {
		a.dpop.fault("proof for the token endpoint: %v", err)
		reply(w, http.StatusBadRequest, map[string]string{"error": errorProof})
		return "", false
	}
	if a.nonceWanted(w, c, &a.dpop.asNonce) {
		reply(w, http.StatusBadRequest, map[string]string{"error": errorUseNonce})
		return "", false
	}
	return c.of, true
}

// provenToken checks how a known token is presented to the MCP server. If it returns false, the request was answered
// with an error. a.mu is held.
func (a *authority) provenToken(w http.ResponseWriter, r *http.Request, params []string) bool {
	refuse := func(code string) bool {
		w.Header().Set("WWW-Authenticate", "DPoP "+strings.Join(append(params, fmt.Sprintf("error=%q", code)), ", "))
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	of, bound := a.dpop.bound[token]
	switch {
	case !bound && scheme == "Bearer" && r.Header.Get("DPoP") == "":
		return true
	case !bound || scheme != typeDPoP:
		a.dpop.fault("a token (bound: %v) is shown as %s", bound, scheme)
		return refuse("invalid_token")
	}
	c, err := a.dpop.verify(r, "https://"+r.URL.Host+r.URL.EscapedPath(), token)
	switch {
	case err != nil:
		a.dpop.fault("proof for the server: %v", err)
		return refuse(errorProof)
	case c.of != of:
		a.dpop.fault("the proof is of another key than the token")
		return refuse("invalid_token")
	case a.dpop.refuse != "":
		return refuse(a.dpop.refuse)
	case a.nonceWanted(w, c, &a.dpop.rsNonce):
		return refuse(errorUseNonce)
	}
	if a.dpop.nextNonce != "" {
		a.dpop.rsNonce, a.dpop.nextNonce = a.dpop.nextNonce, ""
		w.Header().Set("DPoP-Nonce", a.dpop.rsNonce)
	}
	return true
}
