package bounds

import "sync/atomic"

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
