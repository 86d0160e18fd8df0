package transport

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// nonceAuth signs with its token and the newest nonce that it saw.
type nonceAuth struct {
	mu    sync.Mutex // guards what follows
	token int
	nonce string
	asked int
	seen  []int // statuses
}

func (a *nonceAuth) Sign(_ context.Context, req *http.Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	req.Header.Set("Authorization", fmt.Sprint("token", a.token, " nonce:", a.nonce))
	return nil
}

func (a *nonceAuth) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	a.token++
	return resp.Body.Close()
}

func (a *nonceAuth) Observe(_ *http.Request, resp *http.Response) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, resp.StatusCode)
	nonce := resp.Header.Get("Nonce")
	if nonce != "" {
		a.nonce = nonce
	}
	return nonce != "" && resp.StatusCode == http.StatusUnauthorized
}

func (a *nonceAuth) state() (token, asked int, nonce string, seen []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.token, a.asked, a.nonce, slices.Clone(a.seen)
}

// strict is a server that answers 401 with each of these nonces in turn, and then accepts everything. "-" is a 401
// without a nonce.
func strict(nonces ...string) func(x *exchangeSeen) {
	var mu sync.Mutex
	return func(x *exchangeSeen) {
		mu.Lock()
		defer mu.Unlock()
		if len(nonces) == 0 {
			if x.ID == "" {
				x.accepted()
			} else {
				x.result("1")
			}
			return
		}
		if nonces[0] != "-" {
			x.w.Header().Set("Nonce", nonces[0])
		}
		nonces = nonces[1:]
		x.w.WriteHeader(http.StatusUnauthorized)
	}
}

func authorizations(seen []*exchangeSeen) (out []string) {
	for _, x := range seen {
		out = append(out, x.Header.Get("Authorization"))
	}
	return out
}

// A server that asks for a nonce gets the message once more, signed anew, and no sign-in begins. A second nonce counts
// as a refusal; after a sign-in, which may take long, the server may ask for a nonce again.
func TestObserverRepeats(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []string
		sent    []string
		asked   int
		fails   bool
	}{
		"nonce": {[]string{"a"}, []string{"token0 nonce:", "token0 nonce:a"}, 0, false},
		"token, then nonce": {[]string{"-", "a"}, []string{"token0 nonce:", "token1 nonce:", "token1 nonce:a"}, 1,
			false},
		"nonce, then token": {[]string{"a", "-"}, []string{"token0 nonce:", "token0 nonce:a", "token1 nonce:a"}, 1,
			false},
		"nonce, then token, and again": {[]string{"a", "-", "b"}, []string{"token0 nonce:", "token0 nonce:a",
			"token1 nonce:a", "token1 nonce:b"}, 1, false},
		"two nonces": {[]string{"a", "b"}, []string{"token0 nonce:", "token0 nonce:a", "token1 nonce:b"}, 1,
			false},
		"no end": {[]string{"a", "b", "c", "d", "e", "f"},
			[]string{"token0 nonce:", "token0 nonce:a", "token1 nonce:b", "token1 nonce:c"}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := &nonceAuth{}
			inWebWorld(t, map[string]func(*exchangeSeen){"x": strict(tt.answers...)}, func(w *webWorld) {
				w.modern()
				w.send("1", "x")
				if tt.fails {
					if e := w.wantFailed("1", NotSent, "sign-in"); e.Status != http.StatusUnauthorized {
						w.Error(e)
					}
				} else {
					w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
				}
				if d := cmp.Diff(tt.sent, authorizations(w.requests("x"))); d != "" {
					w.Error(d)
				}
				if _, asked, _, _ := a.state(); asked != tt.asked {
					w.Errorf("asked %d times", asked)
				}
			}, withAuth(a))
		})
	}
}

// Observe sees every answer, successful ones too, also those to the GET, to notifications and to the DELETE; and each
// of these requests is sent once more for a nonce.
func TestObserverSeesEveryAnswer(t *testing.T) {
	a := &nonceAuth{}
	on := map[string]func(*exchangeSeen){"notifications/initialized": strict("a"), "DELETE": strict("b", "c", "d")}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		synctest.Wait()
		_ = w.s.Close()
		if d := cmp.Diff([]string{"token0 nonce:a", "token0 nonce:b"}, authorizations(w.requests("DELETE"))); d != "" {
			w.Error(d)
		}
		_, asked, nonce, seen := a.state()
		if asked != 0 || nonce != "c" || len(seen) != len(w.seen) {
			w.Errorf("asked %d times, nonce %q, %d answers to %d requests", asked, nonce, len(seen), len(w.seen))
		}
	}, withAuth(a))
}

// A cancellation that comes while a nonce is being asked for leaves nothing to send: the server did nothing with the
// request.
func TestObserverCancelled(t *testing.T) {
	a := &nonceAuth{}
	on := map[string]func(*exchangeSeen){}
	inWebWorld(t, on, func(w *webWorld) {
		on["x"] = func(x *exchangeSeen) {
			w.s.Abort("1")
			strict("a")(x)
		}
		w.modern()
		w.send("1", "x")
		synctest.Wait()
		w.wantNothing()
		if n := len(w.requests("x")); n != 1 {
			w.Errorf("sent %d times", n)
		}
	}, withAuth(a))
}

// The same over HTTP+SSE, for the stream and for messages.
func TestSSEObserver(t *testing.T) {
	f := newSSEFake()
	wants := func(nonce string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			refuse := r.Header.Get("Authorization") != "token0 nonce:"+nonce
			if refuse {
				w.Header().Set("Nonce", nonce)
				w.WriteHeader(http.StatusUnauthorized)
			}
			return refuse
		}
	}
	f.open = wants("a")
	f.post = func(w http.ResponseWriter, r *http.Request, body string) { wants("b")(w, r) }
	a := &nonceAuth{}
	c := connectSSE(t, HTTPOptions{URL: f.listen(t), Auth: a})
	sendSSE(c, "one")
	first, second := <-f.posts, <-f.posts
	posts := []ssePosted{first, second, f.sentSSE(c, "two")[0]}
	for i, want := range []string{"one token0 nonce:a", "one token0 nonce:b", "two token0 nonce:b"} {
		if p := posts[i]; p.body+" "+p.header.Get("Authorization") != want {
			t.Errorf("posted %q with %q, want %q", p.body, p.header.Get("Authorization"), want)
		}
	}
	if _, asked, _, seen := a.state(); asked != 0 || !slices.Contains(seen, http.StatusOK) {
		t.Errorf("asked %d times, saw %v", asked, seen)
	}
}
