package transport

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRepeats is the table of what is sent again. Finding B1.
func TestRepeats(t *testing.T) {
	const call, list, get, answer = "tools/call", "tools/list", "GET", ""
	for g, want := range map[Ground]map[string]int{
		GroundNonce:   {call: 1, list: 1, get: 1, answer: 1},
		GroundSignIn:  {call: 1, list: 1, get: 1, answer: 1},
		GroundMoved:   {call: 5, list: 5, get: 5, answer: 5},
		GroundTooMany: {call: 3, list: 3, get: 3, answer: 3},
		GroundUnavailable: {call: 0, list: 3, get: 3, answer: 0, "initialize": 3, "server/discover": 3,
			"resources/templates/list": 3, "resources/read": 0, "prompts/get": 0},
		GroundSessionOver:    {call: 1, list: 1},
		GroundDeadConnection: {call: 1, list: 1, get: 1, answer: 1},
		GroundUnreachable:    {call: 0, list: 0, get: 0, answer: 0},
		GroundHeaders:        {call: 1, list: 1},
		GroundCapability:     {call: 0, list: 0},
		GroundVersion:        {call: 1, list: 1},
		GroundURL:            {call: AsOften},
		GroundRound:          {call: AsOften},
		GroundPoll:           {"tasks/get": AsOften},
		GroundUnknown:        {call: 0, list: 0, get: 0, answer: 0},
	} {
		for method, n := range want {
			if got := Repeats(g, method); got != n {
				t.Errorf("ground %d, %q: %d times, want %d", g, method, got, n)
			}
		}
	}
}

// A call that was answered 503 may have run in a server that crashed behind its gateway: it is sent once. A list is
// sent again. Finding B1.
func TestUnavailable(t *testing.T) {
	for method, at := range map[string][]time.Duration{
		"tools/call": {0}, "resources/read": {0}, "prompts/get": {0}, "tools/list": {0, 5, 10}, "server/discover": {0, 5, 10},
	} {
		t.Run(method, func(t *testing.T) {
			n := 0
			on := map[string]func(*exchangeSeen){method: func(x *exchangeSeen) {
				if n++; n <= 2 {
					x.w.Header().Set("Retry-After", "5")
					http.Error(x.w, "restarting", http.StatusServiceUnavailable)
					return
				}
				x.result("1")
			}}
			inWebWorld(t, on, func(w *webWorld) {
				w.modern()
				w.send("1", method)
				if len(at) > 1 {
					w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
				} else if e := w.wantFailed("1", MayHaveRun, "restarting"); e.RetryAfter != 5*time.Second || e.Sent != 1 {
					w.Errorf("%+v", e)
				}
				var got []time.Duration
				for _, x := range w.requests(method) {
					got = append(got, x.At/time.Second)
				}
				if d := cmp.Diff(at, got); d != "" {
					w.Error(d)
				}
			})
		})
	}
}

// The error of a request says how often the request was sent. Finding B1.
func TestSentIsCounted(t *testing.T) {
	for i, c := range []struct {
		statuses []int
		sent     int
	}{{[]int{500}, 1}, {[]int{429, 500}, 2}, {[]int{307, 429, 429, 500}, 4}, {[]int{429, 429, 429, 429}, 4}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			n := 0
			inWebWorld(t, map[string]func(*exchangeSeen){"x": func(x *exchangeSeen) {
				x.w.Header().Set("Location", "/moved")
				x.w.WriteHeader(c.statuses[n])
				n++
			}}, func(w *webWorld) {
				w.modern()
				w.send("1", "x")
				if e := w.next().Err.(*HTTPError); e.Sent != c.sent || n != c.sent {
					w.Errorf("%v: sent %d times, came %d times, want %d", e, e.Sent, n, c.sent)
				}
			})
		})
	}
}
