package transport

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// A session id goes out with every request, so it has a bound: a longer one fails the start. Finding A4.
func TestSessionIDIsBounded(t *testing.T) {
	for n, fails := range map[int]bool{bounds.SessionIDBytes: false, bounds.SessionIDBytes + 1: true} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			begin := func(x *exchangeSeen) {
				x.w.Header().Set("Mcp-Session-Id", strings.Repeat("s", n))
				x.result("1")
			}
			inWebWorld(t, map[string]func(*exchangeSeen){"initialize": begin}, func(w *webWorld) {
				w.s.Speak(false, "")
				w.send("0", "initialize")
				r := w.next()
				if (r.Err != nil) != fails || fails && !strings.Contains(r.Err.Error(), "4 KiB") {
					w.Errorf("%v", r.Err)
				}
			})
		})
	}
}

// The headers of an answer are charged to no account, so they have a bound of their own. Finding A15.
func TestHeadersOfAnswersAreBounded(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := bounds.HeaderBytes / 2
		if r.URL.Path == "/long" {
			n = bounds.HeaderBytes
		}
		w.Header().Set("X-Long", strings.Repeat("x", n))
	}))
	defer web.Close()
	rt := newRoundTripper()
	defer rt.close()
	for path, fails := range map[string]bool{"/": false, "/long": true} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := rt.RoundTrip(r)
		if (err != nil) != fails {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
	}
}
