package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Of those that were sent to a page with one id the last is told that it is done, once. Of many ids the oldest are
// forgotten; an empty one and one that is too long are not kept.
func TestPages(t *testing.T) {
	var p pages
	told := ""
	tell := func(who string) func(string) { return func(id string) { told += who + id + " " } }
	take := func(id string) {
		if tell := p.take(id); tell != nil {
			tell(id)
		}
	}
	take("0")
	p.sent("0", tell("a"))
	p.sent("0", tell("b"))
	take("0")
	take("0")
	p.sent("", tell("c"))
	take("")
	long := strings.Repeat("x", bounds.NameBytes+1)
	p.sent(long, tell("d"))
	take(long)
	p.sent("0", tell("e")) // the oldest one, which the others push out
	for i := range maxPages {
		p.sent(fmt.Sprint("n", i), tell("f"))
	}
	take("0")
	take("n0")
	if told != "b0 fn0 " {
		t.Errorf("told: %s", told)
	}
	if len(p.of) != maxPages || len(p.order) != maxPages {
		t.Errorf("%d and %d are kept", len(p.of), len(p.order))
	}
}
