package launch

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// Owner is what the hub does for one launch.
type Owner interface {
	// Values gives the values of the inputs that an entry refers to. It may ask a person. byHand: somebody wants them
	// apart from a start of the server. It is called without the lock.
	Values(ctx context.Context, conf config.Server, byHand bool) (map[string]string, error)
	// Share runs find once for all who want the consent to this launch at the same time, without the lock; find can ask a
	// person. What find gives is what all get, unless it says that it is its caller's alone: then another one runs his.
	Share(ctx context.Context, byHand bool, find func(Ask) (alone bool, err error)) error
	// Refresh takes up what other hubs have been told. It is called without the lock.
	Refresh()

	// Changed tells the windows how the server is now.
	Changed()
	// Outdated closes the questions about what is no longer what the config says: see Launch.Asks.
	Outdated()
	// Switch makes another entry of the launch the one that counts.
	Switch(to *Entry, why string)
}

// Ask asks a person whether this may be launched, and waits for the answer, without the lock.
type Ask func(f *grants.Form) (Answer, error)

// Answer is what a person says to a launch.
type Answer uint8

// Answers.
const (
	Dismissed Answer = iota // nothing
	Agreed                  // yes, which is in the grants already
	Declined                // no
	// nothing, but it is worth another look: the question is another one, or other windows are there
	Outdated
)
