package bounds

import (
	"fmt"
	"math"
	"sync"
)

// Shares of a budget.
const (
	reserveShare = 4  // the reserve is a quarter of the total
	littleShare  = 64 // who holds no more than a 64th of the reserve may use it
)

// Budget is an amount that the servers of a hub share. Safe for concurrent use.
type Budget struct {
	// Given, if not nil, is called with what was given back, after that. Set it before any account is made. It must not
	// block.
	Given func(n int)

	what  string
	total int
	each  int

	mu   sync.Mutex // guards used, and Account.held and Account.closed of all accounts
	used int
}

// NewBudget makes a budget of total, of which one server may hold each. what completes "server x would hold 3 MiB of
// ...".
func NewBudget(what string, total, each int) *Budget {
	return &Budget{what: what, total: total, each: min(each, total)}
}

// Used is what all accounts hold together.
func (b *Budget) Used() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Account makes an account for a server. Its owner closes it when the server is gone.
func (b *Budget) Account(server string) *Account { return &Account{budget: b, server: server} }

// Account is what one server holds of a budget. A nil account refuses nothing and counts nothing. Safe for concurrent
// use.
type Account struct {
	budget *Budget
	server string
	held   int // guarded by budget.mu
	closed bool
}

// Take takes n, all of it or, with an *Exceeded, nothing. What is taken is given back by Give or Close.
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
	switch limit, hub := b.limit(a); {
	case n > limit-a.held: // not held+n > limit: n is a stranger's number, and the sum may overflow
		return &Exceeded{Server: a.server, What: b.what, Held: a.held, Asked: n, Limit: limit, Hub: hub}
	default:
		a.held += n
		b.used += n
		return nil
	}
}

// limit is how much a may hold now. hub tells that the others hold so much that this is less than one server may hold.
// b.mu is held.
func (b *Budget) limit(a *Account) (limit int, hub bool) {
	reserve := b.total / reserveShare
	others := b.used - a.held
	share := max(b.total-reserve-others, 0) / 2                // held <= open - others - held
	little := min(reserve/littleShare, max(b.total-others, 0)) // from the reserve
	if limit = max(share, little); limit < b.each {
		return limit, true
	}
	return b.each, false
}

// Give gives n back. Giving more than is held gives what is held.
func (a *Account) Give(n int) {
	if a == nil || n <= 0 {
		return
	}
	a.give(n, false)
}

func (a *Account) give(n int, last bool) int {
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
	return n
}

// Close gives all back and refuses from then on. Idempotent. It returns what was held.
func (a *Account) Close() (held int) {
	if a == nil {
		return 0
	}
	return a.give(math.MaxInt, true)
}

// Held is what the account holds.
func (a *Account) Held() int {
	if a == nil {
		return 0
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.held
}

// Exceeded says that a server asked for more than it may hold. Nothing was taken.
type Exceeded struct {
	Server string
	What   string // the budget's
	Held   int    // before
	Asked  int
	Limit  int  // what the server may hold
	Hub    bool // the limit is lower than that for each server, for what the others hold
	Gone   bool // the account is closed
}

func (e *Exceeded) Error() string {
	switch {
	case e.Gone:
		return fmt.Sprintf("server %q is gone and takes no more %s", e.Server, e.What)
	case e.Hub:
		return fmt.Sprintf(
			"server %q holds %s of %s and asks for %s more; its share of what all servers may hold together is %s now",
			e.Server, Bytes(e.Held), e.What, Bytes(e.Asked), Bytes(e.Limit))
	}
	return fmt.Sprintf("server %q holds %s of %s and asks for %s more; one server may hold %s", e.Server, Bytes(e.Held),
		e.What, Bytes(e.Asked), Bytes(e.Limit))
}

// Bytes is a number of bytes for people, rounded up to a tenth so that nothing above a limit reads like the limit.
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
