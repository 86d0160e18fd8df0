package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// proofAlgorithm is the only algorithm of the hub's proofs. Every implementation of RFC 9449 supports it.
const proofAlgorithm = "ES256"

var errProofKey = errors.New("the kept proof key cannot be read")

// ProofKey is the key that the tokens of one sign-in are bound to (RFC 9449): without it, such a token is of no use. It
// leaves the process only for a Store, and printing it shows nothing of it. It does not change, and may be used
// concurrently.
type ProofKey struct {
	key        *ecdsa.PrivateKey
	header     string // of its proofs, encoded
	thumbprint string // RFC 7638
}

func newProofKey() (*ProofKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return proofKeyOf(key)
}

func proofKeyOf(key *ecdsa.PrivateKey) (*ProofKey, error) {
	point, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return nil, err
	}
	b64, half := base64.RawURLEncoding, (len(point)-1)/2
	// The thumbprint is made from the members in this order (RFC 7638 section 3).
	jwk, err := json.Marshal(struct {
		Curve string `json:"crv"`
		Type  string `json:"kty"`
		X     string `json:"x"`
		Y     string `json:"y"`
	}{"P-256", "EC", b64.EncodeToString(point[1 : 1+half]), b64.EncodeToString(point[1+half:])})
	if err != nil {
		return nil, err
	}
	header, err := json.Marshal(map[string]any{"typ": "dpop+jwt", "alg": proofAlgorithm, "jwk": json.RawMessage(jwk)})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(jwk)
	return &ProofKey{key: key, header: b64.EncodeToString(header), thumbprint: b64.EncodeToString(sum[:])}, nil
}

// proof returns a proof that the sender of a request of method to u has the key (RFC 9449 section 4.2). token is the
// access token that is sent with it, and nonce the one that the server has asked for; either may be "". A proof is for
// one request.
func (k *ProofKey) proof(method string, u *url.URL, token, nonce string, now time.Time) (string, error) {
	claims := struct {
		ID     string `json:"jti"`
		Method string `json:"htm"`
		URI    string `json:"htu"`
		At     int64  `json:"iat"`
		Token  string `json:"ath,omitempty"`
		Nonce  string `json:"nonce,omitempty"`
	}{ID: rand.Text(), Method: method, URI: proofURI(u), At: now.Unix(), Nonce: nonce}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims.Token = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return signJWT(k.header, claims, func(text []byte) ([]byte, error) {
		sum := sha256.Sum256(text)
		return signEC(k.key, sum[:], 32)
	})
}

// proofURI returns u without query and fragment, in the normal form of RFC 3986 sections 6.2.2 and 6.2.3, because
// servers compare it as text.
func proofURI(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch {
	case scheme == "https":
		host = strings.TrimSuffix(host, ":443")
	case scheme == "http":
		host = strings.TrimSuffix(host, ":80")
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return scheme + "://" + host + path
}

// sign sets the headers that carry token and its proof (RFC 9449 section 7.1).
func (k *ProofKey) sign(req *http.Request, token, nonce string) error {
	proof, err := k.proof(req.Method, req.URL, token, nonce, time.Now())
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", typeDPoP+" "+token)
	req.Header.Set("DPoP", proof)
	return nil
}

// secret returns the text of the key, or "" if there is none.
func (k *ProofKey) secret() string {
	if k == nil {
		return ""
	}
	text, err := k.MarshalText()
	if err != nil {
		return ""
	}
	return string(text)
}

// MarshalText returns the text of the private key, for a Store.
func (k *ProofKey) MarshalText() ([]byte, error) {
	raw, err := k.key.Bytes()
	if err != nil {
		return nil, errProofKey
	}
	return base64.RawURLEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText parses the result of MarshalText.
func (k *ProofKey) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil {
		return errProofKey
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		return errProofKey
	}
	read, err := proofKeyOf(key)
	if err != nil {
		return errProofKey
	}
	*k = *read
	return nil
}

// String shows nothing of the key.
func (k *ProofKey) String() string { return "a proof key" }

// GoString is like String: %#v shows nothing of the key either.
func (k *ProofKey) GoString() string { return k.String() }

// LogValue keeps the key out of logs.
func (k *ProofKey) LogValue() slog.Value { return slog.StringValue(k.String()) }
