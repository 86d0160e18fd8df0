package bounds

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Budget is an amount that the servers of a hub share. It is safe for concurrent use.
type Budget struct {
	// Given, if not nil, is called with each amount that was returned, after the return. It must be set before the first
	// account is made, and must not block.
	Given func(n int)

	what  string
	total int
	each  int

	mu   sync.Mutex // guards used, and Account.held and Account.closed of all accounts
	used int
}

// NewBudget returns a budget of total, of which one server may hold at most each. what completes "server x would hold 3
// MiB of ...".
func NewBudget(what string, total, each int) *Budget {
	return &Budget{what: what, total: total, each: min(each, total)}
}

// Used returns how much all accounts hold together.
func (b *Budget) Used() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Account returns a new account for a server. The caller closes it when the server is gone.
func (b *Budget) Account(server string) *Account { return &Account{budget: b, server: server} }

// Account is the part of a budget that one server holds. A nil account refuses nothing and counts nothing. It is safe
// for concurrent use.
type Account struct {
	budget *Budget
	server string
	held   int // guarded by budget.mu
	closed bool
}

// Take takes n from the budget. It takes all of n or, with an *Exceeded, nothing. Give or Close returns what was taken.
func (a *Account) Take(n int) error {
	if a == nil || n <= 0 {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.closed {
		return &Exceeded{Server: a.server, What: b.what, Asked: n, Gone: true}
	}
	// Not held+n > limit: a server may have chosen n, and the sum could overflow.
	switch {
	case n > b.each-a.held:
		return &Exceeded{Server: a.server, What: b.what, Held: a.held, Asked: n, Limit: b.each}
	case n > b.total-b.used:
		return &Exceeded{Server: a.server, What: b.what, Held: b.used, Asked: n, Limit: b.total, Hub: true}
	}
	a.held += n
	b.used += n
	return nil
}

// Give returns n to the budget, but at most what the account holds.
func (a *Account) Give(n int) {
	if a == nil || n <= 0 {
		return
	}
	a.give(n, false)
}

func (a *Account) give(n int, last bool) {
	b := a.budget
	b.mu.Lock()
	n = min(n, a.held)
	a.held -= n
	a.closed = a.closed || last
	b.used -= n
	b.mu.Unlock()
	if n > 0 && b.Given != nil {
		b.Given(n)
	}
}

// Close returns everything to the budget, and makes Take refuse from then on. It is idempotent.
func (a *Account) Close() {
	if a != nil {
		a.give(math.MaxInt, true)
	}
}

// Held returns how much the account holds.
func (a *Account) Held() int {
	if a == nil {
		return 0
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.held
}

// Exceeded is the error for a server that asked for more than it may hold. Nothing was taken.
type Exceeded struct {
	Server string
	What   string // the name of the budget
	Held   int    // how much the server held before
	Asked  int
	Limit  int  // how much the server may hold
	Hub    bool // Held and Limit are those of all servers together
	Gone   bool // the account is closed
}

func (e *Exceeded) Error() string {
	switch {
	case e.Gone:
		return fmt.Sprintf("server %q is gone and takes no more %s", e.Server, e.What)
	case e.Hub:
		return fmt.Sprintf(
			"server %q asks for %s of %s, of which all servers together hold %s; they may hold %s",
			e.Server, Bytes(e.Asked), e.What, Bytes(e.Held), Bytes(e.Limit))
	}
	return fmt.Sprintf("server %q holds %s of %s and asks for %s more; one server may hold %s", e.Server, Bytes(e.Held),
		e.What, Bytes(e.Asked), Bytes(e.Limit))
}

// Bytes returns a number of bytes for people. It is rounded up to a tenth, so that a number above a limit never reads
// like the limit.
func Bytes(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return tenths(n, 1<<10) + " KiB"
	}
	return tenths(n, 1<<20) + " MiB"
}

func tenths(n, unit int) string {
	t := n / unit * 10
	t += (n%unit*10 + unit - 1) / unit
	if t%10 == 0 {
		return fmt.Sprint(t / 10)
	}
	return fmt.Sprintf("%d.%d", t/10, t%10)
}

// CountedBytes is the size from which on a message is counted. Below it, even ten thousand messages at once take
// little.
const CountedBytes = 64 << 10

// Hold is the part of an account that one message takes, from the first large part that is read of it to the last byte
// that is passed on. It has one owner at a time, who passes it on together with the bytes, or releases it. A nil Hold
// counts nothing.
type Hold struct {
	account *Account
	held    atomic.Int64
}

// Hold returns a Hold for one message. A nil account returns nil.
func (a *Account) Hold() *Hold {
	if a == nil {
		return nil
	}
	return &Hold{account: a}
}

// Grow makes h hold size, and is called before the memory is allocated. If it returns an *Exceeded, h is unchanged.
func (h *Hold) Grow(size int) error {
	if h == nil || size < CountedBytes {
		return nil
	}
	held := int(h.held.Load())
	if size <= held {
		return nil
	}
	if err := h.account.Take(size - held); err != nil {
		return err
	}
	h.held.Store(int64(size))
	return nil
}

// Release returns everything to the account. The Hold may be used again.
func (h *Hold) Release() {
	if h != nil {
		h.account.Give(int(h.held.Swap(0)))
	}
}

// Bytes returns how much h holds.
func (h *Hold) Bytes() int {
	if h == nil {
		return 0
	}
	return int(h.held.Load())
}

// Text is a text that is received in pieces and may grow to 64 MiB: a line of a server's output, the data of an event,
// the body of an answer. The zero value is empty and ready to use. It must not be used concurrently.
type Text struct{ b []byte }

// Len returns the length of the text in bytes.
func (t *Text) Len() int { return len(t.b) }

// Add appends part. limit is the longest that the text will become: its memory doubles up to that, so that the bytes of
// a long text are copied at most twice, taken together. Memory that is missing is charged to hold first; after a
// *Exceeded the text is unchanged.
func (t *Text) Add(part []byte, limit int, hold *Hold) error {
	if size := len(t.b) + len(part); size > cap(t.b) {
		if err := t.Reserve(max(size, min(2*cap(t.b), limit)), hold); err != nil {
			return err
		}
	}
	t.b = append(t.b, part...)
	return nil
}

// Reserve makes room for size bytes in all. It charges them to hold first; after a *Exceeded the text is
// unchanged.
func (t *Text) Reserve(size int, hold *Hold) error {
	if size <= cap(t.b) {
		return nil
	}
	if err := hold.Grow(size); err != nil {
		return err
	}
	t.b = append(make([]byte, 0, size), t.b...)
	return nil
}

// Bytes returns the text so far. It must not be written to, and is valid until the next Add or Reserve.
func (t *Text) Bytes() []byte { return t.b[:len(t.b):len(t.b)] }

// Take returns the text and makes t empty. The returned bytes must never be written to.
func (t *Text) Take() []byte {
	b := t.Bytes()
	t.b = nil
	return b
}
