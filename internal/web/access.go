package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// secret is the hash of a random text. Hashes have one length, so that comparing them tells nothing, and what is kept
// here opens nothing.
type secret [sha256.Size]byte

func secretOf(text string) secret { return sha256.Sum256([]byte(text)) }

func (s secret) is(text string) bool {
	other := secretOf(text)
	return subtle.ConstantTimeCompare(s[:], other[:]) == 1
}

// access knows who may come in: whoever holds the one token that was not used yet, once, and whoever has a session. The
// texts are those of crypto/rand.Text: at least 128 bits.
type access struct {
	family string // how the names of the cookies at this port begin
	cookie string // its own

	// mu guards what follows.
	mu       sync.Mutex
	token    *secret // nil: none is open
	sessions []secret
}

// newAccess makes the access of the server at a port. Cookies know no ports: two servers must not overwrite each
// other's session, and a page of another port must not know the name of the cookie that it would have to set to end
// this one. (The prefix __Host- would keep others from setting it, but needs https.)
func newAccess(port int) *access {
	family := "mcphub-" + strconv.Itoa(port) + "-"
	return &access{family: family, cookie: family + rand.Text()[:8]}
}

// mint makes a token. The one before is good no more, used or not: a link that somebody left lying about ends with the
// next one.
func (a *access) mint() string {
	text := rand.Text()
	s := secretOf(text)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = &s
	return text
}

// redeem takes the token for a session. It works once.
func (a *access) redeem(token string) (*http.Cookie, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token == nil || !a.token.is(token) {
		return nil, false
	}
	a.token = nil
	session := rand.Text()
	a.sessions = append(a.sessions, secretOf(session))
	return &http.Cookie{Name: a.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}, true
}

// stale gives what ends the cookies in a request that servers before this one have left at its port: they would be sent
// for as long as the browser runs, until a request is too long to be read.
func (a *access) stale(r *http.Request) (end []*http.Cookie) {
	for _, c := range r.Cookies() {
		if c.Name != a.cookie && strings.HasPrefix(c.Name, a.family) {
			end = append(end, &http.Cookie{Name: c.Name, Path: "/", MaxAge: -1})
		}
	}
	return end
}

// admits tells whether a request has a session. It looks at every session, whichever is the right one.
func (a *access) admits(r *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := false
	for _, c := range r.CookiesNamed(a.cookie) {
		for _, s := range a.sessions {
			if s.is(c.Value) {
				found = true
			}
		}
	}
	return found
}
