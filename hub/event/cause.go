package event

import "github.com/mcphub-go/mcphub/hub/bounds"

// CancelCause is the cause of every context that the hub cancels: who, why, and what the caller is told.
type CancelCause struct {
	Origin Origin
	Reason string // bounded, as it was given
	Err    *Error // what the caller gets; nil = CANCELLED
}

func (c *CancelCause) Error() string {
	if c.Reason == "" {
		return "cancelled by " + c.Origin.String()
	}
	return "cancelled by " + c.Origin.String() + ": " + bounds.Printable(c.Reason)
}

// CancelReason is what travels to the server (jsonrpc.Reasoner). "" leaves the reason out.
func (c *CancelCause) CancelReason() string { return c.Reason }
