package hub

import (
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// maxPages limits how many pages of one connection are remembered; the oldest are forgotten first.
const maxPages = 256

// pages remembers, by elicitation id, which client a URL elicitation of the server has sent to a page, so that the
// client can be told when the server reports that the elicitation is complete. That may come long after the answer, and
// after the call. The zero value is ready to use. It is safe for concurrent use.
type pages struct {
	mu    sync.Mutex
	of    map[string]func(id string) // by the elicitation's id
	order []string                   // oldest first
}

func (p *pages) sent(id string, tell func(id string)) {
	if id == "" || len(id) > bounds.NameBytes { // for such an id nobody is told of the completion
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[string]func(id string){}
	}
	if _, again := p.of[id]; !again {
		if len(p.order) == maxPages {
			delete(p.of, p.order[0])
			p.order = p.order[1:]
		}
		p.order = append(p.order, id)
	}
	p.of[id] = tell
}

// take returns the function that tells the client that was sent to the page. It returns nil if there is none, or if it
// was taken before.
func (p *pages) take(id string) (tell func(id string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if tell = p.of[id]; tell != nil {
		p.of[id] = nil // the id keeps its place in order, and later calls return nil
	}
	return tell
}

// ElicitationCompleted tells the client that was sent to a page that the server has finished with it.
func (c *connection) ElicitationCompleted(id string) {
	if tell := c.pages.take(id); tell != nil {
		tell(id)
	}
}
