package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// On real sockets, in both versions of HTTP, with calls that are cancelled at any moment while they are sent: the
// outcome of each cancellation is reported once, as "not needed" only for a call that the server did not get, and the
// server gets at most one notification for each of the others. Findings B17, B18, B15 (WroteRequest).
func TestCancelOnSockets_real(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprint("HTTP/2: ", http2), func(t *testing.T) {
			var mu sync.Mutex
			calls, notes := map[string]int{}, map[string]int{}
			_, _, o := socketServer(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return // the call was aborted
				}
				text, note := strings.CutPrefix(string(body), "cancel ")
				id, _, _ := strings.Cut(text, " ")
				mu.Lock()
				if note {
					notes[id]++
				} else {
					calls[id]++
				}
				mu.Unlock()
				if note {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}, http2)
			s := NewStreamable(o)
			s.Speak(false, "2025-11-25")
			const n = 300
			type word struct {
				id  string
				err error
			}
			told := make(chan word, 2*n)
			for i := range n {
				id := fmt.Sprint(i)
				long := ""
				if i%3 == 0 {
					long = strings.Repeat("x", 64<<10)
				}
				s.Send(Message{ID: id, Method: "tools/call", Body: []byte(id + " " + long)})
				for range i % 40 {
					runtime.Gosched()
				}
				s.CancelAndAbort(id, []byte("cancel "+id+" "), func(err error) { told <- word{id, err} })
			}
			of := map[string]error{}
			for range n {
				w := hangs(t, told, "what became of a cancellation")
				if _, twice := of[w.id]; twice {
					t.Errorf("%s was told twice", w.id)
				}
				of[w.id] = w.err
			}
			_ = s.Close()
			mu.Lock()
			defer mu.Unlock()
			sent := 0
			for id, err := range of {
				switch {
				case errors.Is(err, ErrCancelNotNeeded):
					if calls[id]+notes[id] != 0 {
						t.Errorf("%s was not needed: the server has got %d calls, %d notifications", id, calls[id], notes[id])
					}
				case err == nil && notes[id] != 1, notes[id] > 1:
					t.Errorf("%s was told as %v: the server has got %d notifications", id, err, notes[id])
				default:
					sent++
				}
			}
			t.Logf("%d of %d calls were cancelled at the server, %d before they got there", sent, n, n-sent)
		})
	}
}

// A call of which the server has read only a part is aborted, and no notification is sent. Finding B17.
func TestCancelOfAHalfWrittenCallOnSockets_real(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprint("HTTP/2: ", http2), func(t *testing.T) {
			half, goOn, whole, notes := make(chan bool), make(chan bool), make(chan error, 1), make(chan string, 1)
			_, _, o := socketServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.ContentLength < 1<<20 {
					notes <- "a notification"
					return
				}
				_, _ = io.CopyN(io.Discard, r.Body, 1<<10)
				close(half)
				<-goOn
				_, err := io.Copy(io.Discard, r.Body)
				whole <- err
			}, http2)
			s := NewStreamable(o)
			s.Speak(false, "2025-11-25")
			// More than all buffers on the way hold.
			s.Send(Message{ID: "1", Method: "tools/call", Body: []byte(strings.Repeat("x", 64<<20))})
			hangs(t, half, "the call")
			told := make(chan error, 1)
			s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
			if err := hangs(t, told, "what became of it"); !errors.Is(err, ErrCancelNotNeeded) {
				t.Errorf("told %v", err)
			}
			close(goOn)
			if err := hangs(t, whole, "the end of the body"); err == nil {
				t.Error("the server has got all of it")
			}
			_ = s.Close()
			if len(notes) != 0 {
				t.Error("the server was told")
			}
		})
	}
}
