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

// secret is the hash of a random text. All hashes have the same length, so a comparison reveals nothing, and a stored
// hash gives no access.
type secret [sha256.Size]byte

func secretOf(text string) secret { return sha256.Sum256([]byte(text)) }

func (s secret) is(text string) bool {
	other := secretOf(text)
	return subtle.ConstantTimeCompare(s[:], other[:]) == 1
}

// access decides who is admitted: the holder of the present token, once, and every holder of a session. The texts are
// those of crypto/rand.Text: at least 128 bits.
type access struct {
	family string // prefix of the names of the cookies at this port
	cookie string // name of this server's cookie

	// mu guards the fields below.
	mu       sync.Mutex
	token    *secret // nil: no token is valid
	sessions []secret
}

// newAccess returns the access of the server at a port. Cookies do not depend on the port: two servers must not
// overwrite each other's session, and a page of another port must not know the name of the cookie that it would have to
// set to end this session. (The prefix __Host- would keep others from setting it, but needs https.)
func newAccess(port int) *access {
	family := "mcphub-" + strconv.Itoa(port) + "-"
	return &access{family: family, cookie: family + rand.Text()[:8]}
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

// redeem exchanges the token for a session. It works once.
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

// stale returns cookies that delete the cookies which earlier servers at this port have left in a request. Otherwise
// the browser would send them as long as it runs, until a request is too long to be read.
func (a *access) stale(r *http.Request) (end []*http.Cookie) {
	for _, c := range r.Cookies() {
		if c.Name != a.cookie && strings.HasPrefix(c.Name, a.family) {
			end = append(end, &http.Cookie{Name: c.Name, Path: "/", MaxAge: -1})
		}
	}
	return end
}

// admits reports whether a request has a session. It compares with every session, to take the same time for each.
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
