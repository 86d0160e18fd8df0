package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// passage is what the goroutine of a request keeps on the way through the gate, which the core decides about: see
// core.Looked.
type passage struct {
	call   *CallRequest
	needed core.Needed     // what the core has ordered last
	pinned bool            // with NeedPin: the definition is the recorded one
	tool   *mcp.Tool       // to be called, or to be agreed to; nil: it is not known, or the request calls none
	terms  core.Terms      // to which the call needs a consent
	listed *mcp.Tool       // from the latest list for this call
	of     *mcp.Session    // the session that listed it
	turn   <-chan struct{} // with NeedTurn: closed when the turn has come
}

// pass makes r ready to be sent. The returned tool is nil unless r is a tool call.
func (h *Hub) pass(r *request, c *CallRequest) (*mcp.Session, *mcp.Tool, error) {
	if r.method == methodCallTool {
		h.recallAnswers()
	}
	p := &passage{call: c}
	for {
		session, err := h.look(r, p)
		if err != nil || p.needed.Need == core.NeedNothing {
			return session, p.tool, err
		}
		if err := h.get(r, p); err != nil {
			return nil, nil, err
		}
	}
}

// look tells the core what r sees outside, and returns the session on which r is sent if it needs nothing.
func (h *Hub) look(r *request, p *passage) (*mcp.Session, error) {
	st := h.lock()
	defer st.unlock()
	s := r.server
	s.settle()
	e := core.Looked{Request: r.number, Step: p.needed.Step, Up: s.up(), Modern: s.era() == event.EraModern}
	if r.method == methodCallTool {
		e.Tool = st.seeTool(r, p)
	}
	got := st.apply(e)
	if got.refused != 0 {
		return nil, st.refusal(r, got.refused)
	}
	if p.needed = got.needed; p.needed.Need == core.NeedTurn {
		r.turn = make(chan struct{})
		p.turn = r.turn
	}
	return s.session(), nil
}

// seeTool returns what counts for a call of r's tool now.
func (st *state) seeTool(r *request, p *passage) core.ToolSeen {
	s := r.server
	known, current := s.listedTools()
	seen := core.ToolSeen{Called: true, Preapproved: p.call.Preapproved, Outdated: s.up() && !current,
		NoneKnown: known == nil, Pinned: p.pinned}
	p.tool, p.pinned = nil, false
	if tool, ok := toolNamed(known, r.tool); ok && !seen.Outdated {
		p.tool = tool
	} else if seen.Outdated && p.of == s.session() {
		p.tool = p.listed
	}
	p.terms = st.terms(r, p.tool)
	seen.Terms = p.terms
	if p.terms.Policy == event.PolicyAsk {
		seen.LaunchAllows = s.conf.Policy(r.tool) == config.Allow
		seen.HeldForAny = !st.core.Shows().Has(event.PromptToolApproval, false) &&
			st.grants.HoldsForAny(r.grantKey(p.terms))
	}
	if p.tool != nil {
		r.called(p.tool)
		seen.NotForApps = p.call.AppOf != "" && p.tool.UI.HiddenFromApps
		seen.Held = !p.call.Preapproved && st.held(r, p.terms)
	}
	return seen
}

// called records the title of r's tool.
func (r *request) called(tool *mcp.Tool) { r.title = bounds.Cut(tool.Title, bounds.ToolTitleBytes) }

// refusal returns the error for a request that the core does not let through.
func (st *state) refusal(r *request, why core.Refusal) error {
	switch why {
	case core.CallIsOver:
		return context.Cause(r.ctx)
	case core.ToolHidden:
		return st.call(r).hidden(r.tool)
	case core.ToolDenied:
		return st.call(r).denied(r.tool)
	case core.NoApprover:
		return st.call(r).noApprover(r.tool)
	case core.NotForApps:
		return st.call(r).notForApps(r.tool)
	}
	return st.call(r).unsettled(st.core.Lists(r.number))
}

// get obtains what r needs.
func (h *Hub) get(r *request, p *passage) (err error) {
	switch p.needed.Need {
	case core.NeedKeptTools:
		r.server.recall()
	case core.NeedApprovals:
		h.grants.Refresh(grants.Call)
	case core.NeedSession:
		_, err = r.server.acquire(r.ctx, r.number)
	case core.NeedTools:
		p.listed, p.of, err = findTool(r.ctx, r.server, r.number, r.id, r.tool)
	case core.NeedPin:
		p.pinned = h.grants.LetThroughFirst(r.grantKey(p.terms), string(p.tool.Raw))
	case core.NeedYes:
		err = h.approve(r, p)
	case core.NeedTurn:
		select {
		case <-p.turn:
		case <-r.ctx.Done():
			err = context.Cause(r.ctx)
		}
	}
	return err
}
