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
	"time"
)

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
