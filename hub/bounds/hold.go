package bounds

import "sync/atomic"

// CountedBytes is from how many bytes on a message counts: of those below it, ten thousand at once are no matter.
const CountedBytes = 64 << 10

// Hold is what one message holds of an account, from the first large part that was read of it to the last byte that
// was handed on. It has one owner at a time, who hands it on with the bytes or releases it. A nil Hold counts nothing.
type Hold struct {
	account *Account
	held    atomic.Int64
}

// Hold begins to count a message. A nil account gives a nil Hold.
func (a *Account) Hold() *Hold {
	if a == nil {
		return nil
	}
	return &Hold{account: a}
}

// Grow takes what is missing to size, before the memory is. An *Exceeded changes nothing.
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

// Release gives all back. The Hold may be used again.
func (h *Hold) Release() {
	if h != nil {
		h.account.Give(int(h.held.Swap(0)))
	}
}

// Bytes is what it holds.
func (h *Hold) Bytes() int {
	if h == nil {
		return 0
	}
	return int(h.held.Load())
}
