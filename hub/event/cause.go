package event

import "github.com/mcphub-go/mcphub/hub/bounds"

// CancelCause is the cause of every context that the hub cancels. It says who cancelled, why, and what error the caller
// gets.
type CancelCause struct {
	Origin Origin
	Reason string // bounded, otherwise as it was given
	Err    *Error // the error that the caller gets; nil = CANCELLED
}

func (c *CancelCause) Error() string {
	if c.Reason == "" {
		return "cancelled by " + c.Origin.String()
	}
	return "cancelled by " + c.Origin.String() + ": " + bounds.Printable(c.Reason)
}

// CancelReason returns the reason that is sent to the server (jsonrpc.Reasoner). If it is "", the reason is left out.
func (c *CancelCause) CancelReason() string { return c.Reason }
