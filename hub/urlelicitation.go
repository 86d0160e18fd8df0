package hub

import (
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// maxPages limits the pages of one connection that are remembered; the oldest are forgotten first.
const maxPages = 256

// pages remembers, by elicitation id, who was sent to a page by a URL elicitation of the server, to tell them when the
// server reports that it is complete. That may come long after the answer, and after the call. The zero value is ready;
// it is safe for concurrent use.
type pages struct {
	mu    sync.Mutex
	of    map[string]func(id string) // by the elicitation's id
	order []string                   // oldest first
}

func (p *pages) sent(id string, tell func(id string)) {
	if id == "" || len(id) > bounds.NameBytes { // who makes such an id is told of nothing
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

// take returns, once, the function that tells whoever was sent to the page; nil if nobody was.
func (p *pages) take(id string) (tell func(id string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if tell = p.of[id]; tell != nil {
		p.of[id] = nil // it keeps its place in order, as a page that is done with
	}
	return tell
}

// ElicitationCompleted tells the client that was sent to a page that the server has finished with it.
func (c *connection) ElicitationCompleted(id string) {
	if tell := c.pages.take(id); tell != nil {
		tell(id)
	}
}
