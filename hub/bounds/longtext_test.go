package bounds

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
)

// Whatever the parts, the text is their sum.
func TestTextIsTheSumOfItsParts_amount(t *testing.T) {
	whole := make([]byte, 12<<20)
	rand.NewChaCha8([32]byte{}).Read(whole)
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var text Text
		limit := 4<<20 + rnd.IntN(8<<20)
		if rnd.IntN(2) == 0 {
			if err := text.Reserve(rnd.IntN(limit), nil); err != nil {
				t.Fatal(err)
			}
		}
		for text.Len() < limit {
			n := text.Len()
			end := min(n+rnd.IntN(1<<(10+rnd.IntN(12))), limit)
			if err := text.Add(whole[n:end], limit, nil); err != nil {
				t.Fatal(err)
			}
			if got := text.Bytes(); text.Len() != end || cap(got) != end || !bytes.Equal(got[n:], whole[n:end]) ||
				cap(text.b) > limit+8<<10 { // a page of the allocator more than was asked for
				t.Fatalf("seed %d: %d bytes of %d, room for %d of %d", seed, len(got), end, cap(text.b), limit)
			}
		}
		if got := text.Take(); !bytes.Equal(got, whole[:limit]) || text.Len() != 0 || cap(text.b) != 0 {
			t.Fatalf("seed %d: the text differs, or stays", seed)
		}
	}
}

func TestWhatFindsNoRoomChangesNothing(t *testing.T) {
	budget := NewBudget("texts", 64<<20, 32<<20)
	hold := budget.Account("s").Hold()
	var text Text
	part := bytes.Repeat([]byte{'x'}, 1<<20)
	var err error
	n := 0
	for ; err == nil; n++ {
		if held := budget.Used(); held < text.Len() || held > 2*text.Len() {
			t.Fatalf("%d are held for %d", held, text.Len())
		}
		err = text.Add(part, 256<<20, hold)
	}
	if exceeded, ok := errors.AsType[*Exceeded](err); !ok || exceeded.Server != "s" {
		t.Fatal(err)
	}
	if n--; text.Len() != n<<20 || bytes.Count(text.Bytes(), []byte{'x'}) != n<<20 {
		t.Errorf("%d bytes are left of %d", text.Len(), n<<20)
	}
	if err := text.Reserve(64<<20, hold); err == nil || text.Len() != n<<20 {
		t.Errorf("%v, %d bytes are left", err, text.Len())
	}
}

// The bytes of a text are copied twice at most, taken together: once out of the part, once as the text grows.
func TestMemoryOfALongText_amount(t *testing.T) {
	const size = 64 << 20
	part := bytes.Repeat([]byte{'x'}, 64<<10)
	for name, c := range map[string]struct{ reserve, limit, most int }{
		"unknown length": {0, size, 2 * size},
		"known length":   {size, size, size},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var text Text
			if err := text.Reserve(c.reserve, nil); err != nil {
				t.Fatal(err)
			}
			for text.Len() < size {
				if err := text.Add(part, c.limit, nil); err != nil {
					t.Fatal(err)
				}
			}
			b := text.Take()
			runtime.ReadMemStats(&after)
			if got := int(after.TotalAlloc - before.TotalAlloc); got > c.most+1<<20 || len(b) != size {
				t.Errorf("%d KiB were allocated for %d", got>>10, len(b)>>10)
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	const size = 64 << 20
	part := bytes.Repeat([]byte{'x'}, 64<<10)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		var text Text
		for text.Len() < size {
			if err := text.Add(part, size, nil); err != nil {
				b.Fatal(err)
			}
		}
		text.Take()
	}
}
