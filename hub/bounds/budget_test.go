package bounds

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// books checks what must hold of a budget at any time.
func books(t *testing.T, b *Budget, accounts []*Account) {
	t.Helper()
	sum := 0
	for _, a := range accounts {
		held := a.Held()
		if held < 0 || held > b.each {
			t.Fatalf("an account holds %d of at most %d", held, b.each)
		}
		sum += held
	}
	if used := b.Used(); used != sum || used > b.total {
		t.Fatalf("%d of %d are used, and the accounts hold %d", used, b.total, sum)
	}
}

// Findings A4 and A5: the hub has a total besides the bound for each server.
func TestBudgetKeepsItsTotalWhateverServersDo_long(t *testing.T) {
	rounds := uint64(50)
	if testing.Short() {
		rounds = 12
	}
	for seed := range rounds {
		rnd := rand.New(rand.NewPCG(seed, 1))
		const total = 1 << 20
		b := NewBudget("things", total, total/(1+rnd.IntN(4)))
		var accounts []*Account
		for range 1 + rnd.IntN(60) {
			accounts = append(accounts, b.Account("s"))
		}
		for range 5000 {
			a := accounts[rnd.IntN(len(accounts))]
			switch rnd.IntN(8) {
			case 0, 1:
				a.Give(rnd.IntN(a.Held() + 10))
			case 2:
				if rnd.IntN(50) == 0 {
					a.Close()
				}
			default:
				before, n := a.Held(), rnd.IntN(1<<rnd.IntN(22))
				err := a.Take(n)
				if exceeded, ok := errors.AsType[*Exceeded](err); err != nil &&
					(!ok || a.Held() != before || !exceeded.Gone && n <= exceeded.Limit-exceeded.Held) {
					t.Fatalf("seed %d: Take(%d) with %d: %v", seed, n, before, err)
				}
			}
			books(t, b, accounts)
		}
		for _, a := range accounts {
			a.Close()
		}
		if used := b.Used(); used != 0 {
			t.Fatalf("seed %d: %d are used when all are gone", seed, used)
		}
	}
}

// fill takes piece by piece until the account gets no more.
func fill(a *Account, piece int) int {
	for a.Take(piece) == nil {
	}
	return a.Held()
}

// One server that takes all it may leaves room for what each of two hundred others usually needs.
func TestOneServerDoesNotTakeAllFromThoseWhoComeLater(t *testing.T) {
	b := NewBudget("lists", HubListBytes, ServerListBytes)
	if got := fill(b.Account("greedy"), 64<<10); got != ServerListBytes {
		t.Errorf("alone, a server gets %s", Bytes(got))
	}
	for i := range 200 {
		if err := b.Account("s").Take(256 << 10); err != nil {
			t.Fatalf("server %d: %v", i, err)
		}
	}
}

func TestExceededNamesServerAndBound(t *testing.T) {
	b := NewBudget("lists", 1<<20, 100<<10)
	a := b.Account("s")
	if err := a.Take(100 << 10); err != nil {
		t.Fatal(err)
	}
	if text := a.Take(
		1).Error(); text != `server "s" holds 100 KiB of lists and asks for 1 bytes more; one server may hold 100 KiB` {
		t.Error(text)
	}
	for range 10 {
		fill(b.Account("other"), 1000)
	}
	if text := b.Account("late").Take(90 << 10).Error(); !strings.Contains(text, `server "late"`) ||
		!strings.Contains(text, "all servers together hold") {
		t.Error(text)
	}
	if err := a.Take(math.MaxInt); err == nil {
		t.Error("a sum that overflows was taken")
	}
	a.Close()
	if text := a.Take(1).Error(); !strings.Contains(text, "is gone") {
		t.Error(text)
	}
}

func TestNoAccountRefusesNothing(t *testing.T) {
	var a *Account
	if err := a.Take(math.MaxInt); err != nil || a.Held() != 0 {
		t.Error("a nil account counts")
	}
	a.Give(1)
	a.Close()
}

func TestBudgetUnderConcurrency(t *testing.T) {
	b := NewBudget("things", 1<<20, 1<<19)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			a := b.Account("s")
			defer a.Close()
			for i := range 2000 {
				if a.Take(i) == nil && i%2 == 0 {
					a.Give(i)
				}
			}
		})
	}
	all.Wait()
	if used := b.Used(); used != 0 {
		t.Errorf("%d are used by nobody", used)
	}
}
