package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
)

// secret is the hash of a random text. All hashes have the same length, so a comparison reveals nothing, and a stored
// hash gives no access.
type secret [sha256.Size]byte

func secretOf(text string) secret { return sha256.Sum256([]byte(text)) }

func (s secret) is(text string) bool {
	other := secretOf(text)
	return subtle.ConstantTimeCompare(s[:], other[:]) == 1
}

// Proof is the first message on a page's socket, as JSON. It is no part of the contract with the hub, and does not
// reach it.
type Proof struct {
	// Session is a random text that the page has made. It counts from the first socket on that has brought a valid token
	// with it.
	Session string `json:"session"`
	// Token is that of the link with which the page was opened; "" if the page was opened before.
	Token string `json:"token,omitempty"`
}

// The length of a session, in bytes: a page sends two random UUIDs.
const minSession, maxSession = 32, 128

// access decides whose socket is admitted: that of the holder of the present token, once, and those of the sessions
// that came with one. No cookie is used: a browser sends the cookies of a host to every port of it, of whichever user.
// The token is one of crypto/rand.Text: at least 128 bits.
type access struct {
	// mu guards the fields below.
	mu       sync.Mutex
	token    *secret // nil: no token is valid
	sessions []secret
}

// mint creates a token. The previous token becomes invalid, used or not: a link that was left somewhere stops working
// with the next one.
func (a *access) mint() string {
	text := rand.Text()
	s := secretOf(text)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = &s
	return text
}

// admits reports whether a socket is admitted. A token works once. It compares with every session, to take the same
// time for each.
func (a *access) admits(p Proof) bool {
	if len(p.Session) < minSession || len(p.Session) > maxSession {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	found := false
	for _, s := range a.sessions {
		if s.is(p.Session) {
			found = true
		}
	}
	if found || a.token == nil || !a.token.is(p.Token) {
		return found
	}
	a.token = nil
	a.sessions = append(a.sessions, secretOf(p.Session))
	return true
}
