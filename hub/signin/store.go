package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// Key identifies what is kept for one server. Two entries of a configuration never share a token, even if they have the
// same URL.
type Key struct {
	// Server is the name in the configuration, URL the server's address.
	Server string
	URL    string
}

// id returns a name for k that reveals nothing about it, and is valid in file systems and keyrings.
func (k Key) id() string {
	sum := sha256.Sum256([]byte(k.Server + "\x00" + k.URL))
	return hex.EncodeToString(sum[:16])
}

// Entry is what is kept for one server. It belongs to the authorization server that it names, and is replaced if the
// server moves to another one: a token or a registration is never sent to an issuer that did not give it. An Entry does
// not change once it was passed on. Printing it shows no secret.
type Entry struct {
	Server   string `json:"server"`
	URL      string `json:"url"`
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`

	// ClientID is the client that the token was given to. ClientSecret is empty if it comes from the configuration.
	ClientID     string           `json:"clientId,omitempty"`
	ClientSecret string           `json:"clientSecret,omitempty"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle,omitempty"`
	TokenURL     string           `json:"tokenUrl,omitempty"`

	// ProofKey is the key that the tokens are bound to, or only the refresh token; nil if none is bound. TokenType is
	// "DPoP" for a bound access token, "" for a bearer token.
	ProofKey  *ProofKey `json:"proofKey,omitempty"`
	TokenType string    `json:"tokenType,omitempty"`

	// Scopes were granted, or requested if the server did not say what it granted.
	Scopes []string `json:"scopes,omitempty"`
	// AccessToken is "" if only the registration is kept.
	AccessToken  string `json:"accessToken,omitempty"`
	RefreshToken string `json:"refreshToken,omitempty"`
	// Expiry is when AccessToken expires; zero if the server did not say.
	Expiry time.Time `json:"expiry,omitzero"`

	Registration *Registration `json:"registration,omitempty"`
	// Saved is when the entry was written.
	Saved time.Time `json:"saved"`
}

// early is how long before its expiry a token counts as expired: it has to be valid until the server has checked it.
const early = 10 * time.Second

// usable reports whether e has a token for a request at now.
func (e *Entry) usable(now time.Time) bool {
	return e != nil && e.AccessToken != "" && (e.Expiry.IsZero() || now.Add(early).Before(e.Expiry))
}

// sameTokens reports whether e and other have the same tokens. other may be nil.
func (e *Entry) sameTokens(other *Entry) bool {
	return other != nil && e.AccessToken == other.AccessToken && e.RefreshToken == other.RefreshToken
}

// secrets returns the values that must not appear in any text.
func (e *Entry) secrets() []string {
	if e == nil {
		return nil
	}
	return []string{e.ClientSecret, e.AccessToken, e.RefreshToken, e.Registration.client().ClientSecret,
		e.ProofKey.secret()}
}

// Secrets returns the texts of e that must not be shown. e may be nil.
func (e *Entry) Secrets() []string { return e.secrets() }

// String returns a text that names the entry, without its secrets.
func (e *Entry) String() string { return fmt.Sprintf("sign-in of %s at %s", e.Server, e.Issuer) }

// GoString is like String: %#v shows no secret either.
func (e *Entry) GoString() string { return e.String() }

// LogValue keeps the secrets out of logs.
func (e *Entry) LogValue() slog.Value { return slog.StringValue(e.String()) }

// Store keeps entries between runs. Its methods may be called concurrently. Its errors have no secrets.
type Store interface {
	// Lock waits until no hub of this user holds the entry for key, and holds it until unlock is called. It does not keep
	// the other methods from being used. The error is the cause of ctx, or says why nothing can be held.
	Lock(ctx context.Context, key Key) (unlock func(), err error)
	// Load returns the entry for key, or nil if there is none that can be used.
	Load(ctx context.Context, key Key) (*Entry, error)
	// Save replaces the entry for e.Server and e.URL.
	Save(ctx context.Context, e *Entry) error
	// Delete removes the entry for key. It returns nil if there is none.
	Delete(ctx context.Context, key Key) error
}

// memory is a Store for one run.
type memory struct {
	mu sync.Mutex // guards the fields below
	// entries are not copied, because they do not change.
	entries map[Key]*Entry
	locks   map[Key]chan struct{} // each has one slot, for the holder
}

// NewMemory returns a Store that forgets everything when the process ends.
func NewMemory() Store { return &memory{entries: map[Key]*Entry{}, locks: map[Key]chan struct{}{}} }

func (m *memory) Lock(ctx context.Context, key Key) (unlock func(), err error) {
	m.mu.Lock()
	held := m.locks[key]
	if held == nil {
		held = make(chan struct{}, 1)
		m.locks[key] = held
	}
	m.mu.Unlock()
	select {
	case held <- struct{}{}:
		return func() { <-held }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (m *memory) Load(_ context.Context, key Key) (*Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[key], nil
}

func (m *memory) Save(_ context.Context, e *Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[Key{e.Server, e.URL}] = e
	return nil
}

func (m *memory) Delete(_ context.Context, key Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
	return nil
}

// decodeEntry parses what a store kept. An entry for another key counts as corrupt.
func decodeEntry(text []byte, key Key) (*Entry, error) {
	var e Entry
	// The errors of the decoder quote the text, so they are not passed on.
	if err := json.Unmarshal(text, &e); err != nil || e.Server != key.Server || e.URL != key.URL || e.Issuer == "" {
		return nil, errCorrupt
	}
	if e.TokenType != "" && (e.TokenType != typeDPoP || e.ProofKey == nil) {
		return nil, errCorrupt
	}
	return &e, nil
}
