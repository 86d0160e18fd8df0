package signin

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
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

// assertionLife is short, because an assertion is used at once, and only once.
const assertionLife = 2 * time.Minute

var errKey = errors.New("the private key cannot be read: a PEM block with an EC, RSA or Ed25519 key is needed")

// signer makes the JWTs with which a client authenticates itself (RFC 7523 section 2.2).
type signer struct {
	algorithm string
	sign      func(text []byte) ([]byte, error)
}

// newSigner parses a private key. algorithm must fit the key; "" chooses the one that fits.
func newSigner(text, algorithm string) (*signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errKey
	}
	var key any
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		if key, err = x509.ParseECPrivateKey(block.Bytes); err != nil {
			if key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
				return nil, errKey
			}
		}
	}
	var s *signer
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		switch k.Curve {
		case elliptic.P256():
			s = &signer{"ES256", func(text []byte) ([]byte, error) { sum := sha256.Sum256(text); return signEC(k, sum[:], 32) }}
		case elliptic.P384():
			s = &signer{"ES384", func(text []byte) ([]byte, error) { sum := sha512.Sum384(text); return signEC(k, sum[:], 48) }}
		default:
			return nil, errKey
		}
	case *rsa.PrivateKey:
		s = &signer{"RS256", func(text []byte) ([]byte, error) {
			sum := sha256.Sum256(text)
			return rsa.SignPKCS1v15(nil, k, crypto.SHA256, sum[:])
		}}
	case ed25519.PrivateKey:
		s = &signer{"EdDSA", func(text []byte) ([]byte, error) { return ed25519.Sign(k, text), nil }}
	default:
		return nil, errKey
	}
	if algorithm != "" && algorithm != s.algorithm {
		return nil, fmt.Errorf("the signing algorithm %q does not fit the private key, which is for %s", algorithm,
			s.algorithm)
	}
	return s, nil
}

// signEC returns a signature in the form of the two numbers one after the other (RFC 7518 section 3.4).
func signEC(key *ecdsa.PrivateKey, sum []byte, size int) ([]byte, error) {
	r, s, err := ecdsa.Sign(rand.Reader, key, sum)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 2*size)
	r.FillBytes(out[:size])
	s.FillBytes(out[size:])
	return out, nil
}

// assertion returns a JWT which states, for the authorization server with the issuer audience, that its sender is the
// client id.
func (s *signer) assertion(id, audience string, now time.Time) (string, error) {
	header, err := json.Marshal(map[string]string{"alg": s.algorithm, "typ": "JWT"})
	if err != nil {
		return "", err
	}
	return signJWT(base64.RawURLEncoding.EncodeToString(header), map[string]any{
		"iss": id, "sub": id, "aud": audience, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	}, s.sign)
}

// signJWT makes a JWT (RFC 7515 section 3.1). header is already encoded.
func signJWT(header string, claims any, sign func(text []byte) ([]byte, error)) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := header + "." + base64.RawURLEncoding.EncodeToString(payload)
	signature, err := sign([]byte(text))
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
