package gateway

import (
	"fmt"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// owners records whose each name of a list is. Whoever had a name first keeps it, also while it does not list it, so
// that no server gets what clients send to a name that they know as another's. All methods are safe for concurrent use.
type owners struct {
	mu    sync.Mutex
	count uint64
	of    map[string]owner
}

type owner struct {
	origin
	since uint64 // a number that grows with each new owner
}

func newOwners() *owners { return &owners{of: map[string]owner{}} }

// maxUnlisted is how many names one server may own that it does not list.
const maxUnlisted = 1000

// claim returns the owner of a name, which is at if nobody had it before.
func (o *owners) claim(name string, at origin) owner {
	o.mu.Lock()
	defer o.mu.Unlock()
	own, taken := o.of[name]
	if !taken {
		o.count++
		own = owner{at, o.count}
		o.of[name] = own
	}
	return own
}

// trim takes from a server that owns too many names that are not in the list those names.
func (o *owners) trim(listed map[string]origin) {
	o.mu.Lock()
	defer o.mu.Unlock()
	unlisted := map[string]int{}
	most := 0
	for name, own := range o.of {
		if listed[name] != own.origin {
			unlisted[own.server]++
			most = max(most, unlisted[own.server])
		}
	}
	if most <= maxUnlisted {
		return
	}
	for name, own := range o.of {
		if unlisted[own.server] > maxUnlisted && listed[name] != own.origin {
			delete(o.of, name)
		}
	}
}

// forget gives up the names of a server that is not the gateway's any more.
func (o *owners) forget(server string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, own := range o.of {
		if own.server == server {
			delete(o.of, name)
		}
	}
}

// NameTaken says that a tool or prompt could not have the name for clients that it would have.
type NameTaken struct {
	Kind         string // "tool" or "prompt"
	Server, Name string // whose it is, and its name there
	Taken        string // the name that it would have
	// Owner is the server whose it is; "" if Server itself lists it twice.
	Owner string
	// Instead is the name that it has in the place of Taken; "" if clients do not get it.
	Instead string
}

// String returns a sentence for people.
func (t NameTaken) String() string {
	what := fmt.Sprintf("the %s %q of server %q", t.Kind, bounds.Printable(t.Name), bounds.Printable(t.Server))
	switch {
	case t.Owner == "":
		return what + " is listed by it twice: clients get the first"
	case t.Instead != "":
		return fmt.Sprintf("%s is %s for clients: the name %q is that of server %q, which had it first", what, t.Instead,
			bounds.Printable(t.Taken), bounds.Printable(t.Owner))
	}
	return fmt.Sprintf("%s is left out: its name for clients, %s, is that of a %s of server %q, which had it first; rename "+
		"the server in the config", what, t.Taken, t.Kind, bounds.Printable(t.Owner))
}
