package soak

import (
	"sync"
	"sync/atomic"
	"time"
)

// wireID identifies a JSON-RPC request of the hub: ids are unique only in their session.
type wireID struct{ session, id string }

// exchange is what a server, or a tap in front of it, has seen of one request.
type exchange struct {
	session  string
	calls    int       // how often the request came
	cancels  int       // the notifications/cancelled that name it
	early    int       // those of them that came before the request
	first    time.Time // when the first cancel was seen
	reasons  []string  // of the cancels
	closed   bool      // the client closed the stream
	answered bool      // stdio: its response was read; HTTP: the server ended the answer to its POST
}

// witness records what was seen of the calls of one batch.
type witness struct {
	unasked   unasked
	sessions  atomic.Int64 // over stdio
	mu        sync.Mutex   // guards what follows
	exchanges map[wireID]*exchange
	byTag     map[string][]wireID
}

func newWitness() *witness {
	w := &witness{}
	w.forget()
	return w
}

// forget drops the records of the batch.
func (w *witness) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exchanges, w.byTag = map[wireID]*exchange{}, map[string][]wireID{}
}

func (w *witness) at(id wireID) *exchange { // called with mu held
	x := w.exchanges[id]
	if x == nil {
		x = &exchange{session: id.session}
		w.exchanges[id] = x
	}
	return x
}

// asked records a request. tag is the call that it belongs to, or "" for none. A call can have several requests, one
// for each MRTR round.
func (w *witness) asked(id wireID, tag string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.at(id)
	x.calls++
	x.early = x.cancels
	if tag != "" {
		w.byTag[tag] = append(w.byTag[tag], id)
	}
}

func (w *witness) cancelled(id wireID, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.at(id)
	x.reasons = append(x.reasons, reason)
	if x.cancels++; x.cancels == 1 {
		x.first = time.Now()
	}
}

func (w *witness) closed(id wireID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at(id).closed = true
}

func (w *witness) answered(id wireID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at(id).answered = true
}

// of returns what was seen of a call: its requests in order.
func (w *witness) of(tag string) []exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []exchange
	for _, id := range w.byTag[tag] {
		list = append(list, *w.exchanges[id])
	}
	return list
}

// strays counts the cancels that name a request that was not seen.
func (w *witness) strays() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.exchanges {
		if x.calls == 0 && x.cancels > 0 {
			n++
		}
	}
	return n
}
