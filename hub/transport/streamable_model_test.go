package transport

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestOneEndForEachRequest_long plays random servers against random aborts, cancellations and ends. Whatever happens, a
// request has one end at most; exactly one if nobody aborted it; and nothing is received of it after the end or after
// Abort.
func TestOneEndForEachRequest_long(t *testing.T) {
	rounds := uint64(40)
	if testing.Short() {
		rounds = 15
	}
	for seed := range rounds {
		rnd := rand.New(rand.NewPCG(seed, 7))
		answer := func(x *exchangeSeen) { x.events("data: " + x.answer("1") + "\n\n") }
		kinds := []func(*exchangeSeen){
			func(x *exchangeSeen) { x.result("1") },
			func(x *exchangeSeen) { x.events("data: " + hello + "\n\n"); elapse(3 * time.Second); answer(x) },
			func(x *exchangeSeen) { elapse(2 * time.Second); x.result("1") },
			func(x *exchangeSeen) { x.events("id: " + x.ID + "\ndata: " + hello + "\n\n") },
			func(x *exchangeSeen) { x.events("data: " + hello + "\n\n") },
			func(x *exchangeSeen) { x.w.WriteHeader(500) },
			func(x *exchangeSeen) { x.w.WriteHeader(429) },
			func(x *exchangeSeen) { x.events(": open\n\n"); x.left() },
			func(x *exchangeSeen) { x.left() },
		}
		on := map[string]func(*exchangeSeen){
			"GET": resumed(func(x *exchangeSeen, _ int) {
				x.events(`data: {"jsonrpc":"2.0","id":` + x.Header.Get("Last-Event-Id") + `,"result":1}` + "\n\n")
			}),
			"expired":                 func(x *exchangeSeen) { x.w.WriteHeader(404) },
			"notifications/cancelled": func(x *exchangeSeen) { elapse(500 * time.Millisecond); x.accepted() },
		}
		for i, k := range kinds {
			on[fmt.Sprint("kind", i)] = k
		}
		inWebWorld(t, on, func(w *webWorld) {
			w.legacy("2025-11-25")
			const n = 60
			stopped := map[string]bool{}
			for i := 1; i <= n; i++ {
				w.send(fmt.Sprint(i), fmt.Sprint("kind", rnd.IntN(len(kinds))))
				id := fmt.Sprint(1 + rnd.IntN(i))
				switch rnd.IntN(6) {
				case 0:
					w.s.Abort(id)
					stopped[id] = true
				case 1:
					w.s.CancelAndAbort(id, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+
						`}}`), func(error) {})
					stopped[id] = true
				case 2:
					synctest.Wait()
				case 3:
					elapse(time.Duration(rnd.IntN(1000)) * time.Millisecond)
				}
			}
			elapse(time.Duration(rnd.IntN(60)) * time.Second)
			w.send("999", "expired")
			err := <-w.over
			ends := map[string]int{}
			for len(w.got) > 0 {
				r := <-w.got
				id := r.FailedID
				if id == "" {
					id = r.Stream
				}
				if ends[id] > 0 && !strings.Contains(string(r.Body), "message") {
					w.Errorf("seed %d: request %s has two ends: %s %v", seed, id, r.Body, r.Err)
				}
				if r.FailedID != "" || strings.Contains(string(r.Body), "result") {
					ends[id]++
				}
			}
			for i := 1; i <= n; i++ {
				if id := fmt.Sprint(i); ends[id] != 1 && !stopped[id] {
					w.Errorf("seed %d: request %s has %d ends", seed, id, ends[id])
				}
			}
			if err != ErrSessionExpired || ends["999"] != 1 {
				w.Errorf("seed %d: the end is %v", seed, err)
			}
		})
	}
}
