package launch

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// Owner is what the hub does for one launch.
type Owner interface {
	// Values returns the values of the inputs that an entry refers to. It may ask a person. byHand reports that the values
	// are wanted for something other than a start of the server. It is called without the lock.
	Values(ctx context.Context, conf config.Server, byHand bool) (map[string]string, error)
	// Share runs find, which can ask a person, without the lock. Callers that want the consent to this launch at the same
	// time share one run of find, and all get its result. If find returns alone, the result is only for its own caller,
	// and another caller runs its own find.
	Share(ctx context.Context, byHand bool, find func(Ask) (alone bool, err error)) error
	// Refresh reads the grants that other hubs have written. It is called without the lock.
	Refresh()

	// Changed sends the windows the present state of the server.
	Changed()
	// Outdated closes the questions that do not match the entries any more: see Launch.Asks.
	Outdated()
	// Switch makes another entry of the launch the one that counts.
	Switch(to *Entry, why string)
}

// Ask asks a person whether this may be launched, and waits for the answer. It is called without the lock.
type Ask func(f *grants.Form) (Answer, error)

// Answer is a person's answer to the question whether something may be launched.
type Answer uint8

// The values of Answer.
const (
	Dismissed Answer = iota // closed without an answer
	Agreed                  // yes; the grant has been stored already
	Declined                // no
	// no answer, but the caller should look again: the question has changed, or other windows are attached
	Outdated
)
