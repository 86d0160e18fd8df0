package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/offers"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Every outgoing request passes one gate. mayGo decides, with the lock held, whether the request may be sent now, and
// on what session, or what it needs first. get obtains what it needs, without the lock. Then mayGo decides again, since
// everything may have changed meanwhile: the list of tools, the policy, the connection. A request that needs nothing is
// sent after the first call of mayGo.

// A server may say at any moment that its tools have changed, even while it lists them. After enoughLists lists for one
// call the latest list counts, if it comes from the connection that the call is sent on. For one call, get is called at
// most maxSteps times.
const (
	enoughLists = 2
	maxSteps    = 32
)

// need is what a request lacks before it may be sent.
type need int

const (
	needNothing   need = iota
	needKeptTools      // the tools that an earlier connection listed, from the disk
	needApprovals      // the approvals that are on the disk now
	needSession        // a session with the server
	needList           // the tools as the server lists them now
	needYes            // consent to call the tool, from a person or from a pinned definition
	needTurn           // the end of the calls of other clients: see turns
)

// passage is what a tool call has gathered on its way through the gate.
type passage struct {
	call     *CallRequest
	agreed   agreement    // the terms that the call has consent for
	recalled bool         // the kept tools were read
	fresh    bool         // the approvals were read from the disk, and the call has not waited for anything since
	lists    int          // how often the tools were listed for this call
	tool     *mcp.Tool    // from the latest of these lists
	of       *mcp.Session // the session that listed it
}

// verdict is the result of mayGo: an error, a need, or the session and the tool to call.
type verdict struct {
	err   error
	need  need
	found servers.Found // the session, or what to wait for
	tool  *mcp.Tool     // the tool to call, or to agree to
	terms *agreement    // the terms to agree to; nil if no consent is needed
	turn  chan struct{} // closed when the turn of the request has come, which waits for it
}

// pass makes r ready to be sent, and moves it to running. The returned tool is nil unless r is a tool call.
func (h *Hub) pass(r *request, c *CallRequest) (*mcp.Session, *mcp.Tool, error) {
	if r.method == methodCallTool {
		h.recallAnswers()
	}
	p := &passage{call: c}
	for range maxSteps {
		v := h.mayGo(r, p)
		if v.err != nil {
			return nil, nil, v.err
		}
		if v.need == needNothing {
			return v.found.Session, v.tool, nil
		}
		if err := h.get(r, p, &v); err != nil {
			return nil, nil, err
		}
	}
	st := h.lock()
	defer st.unlock()
	return nil, nil, st.call(r).Unsettled(p.lists)
}

// mayGo reports whether r may be sent now. Every request needs a session. A tool call must also be visible, allowed,
// and agreed to in its present definition.
func (h *Hub) mayGo(r *request, p *passage) (v verdict) {
	st := h.lock()
	defer st.unlock()
	if r.method == methodCallTool {
		if v = st.mayCall(r, p); v.err != nil || v.need != needNothing {
			return v
		}
	}
	st.seekSession(r, &v)
	switch {
	case v.need != needNothing || v.err != nil:
	case st.apply(core.Ready{Request: r.number, Modern: r.server.Era() == event.EraModern}).refused != 0:
		v.err = context.Cause(r.ctx) // it was cancelled
	case r.turn != nil:
		v.need, v.turn = needTurn, r.turn
	}
	return v
}

// seekSession looks for the session on which to send r.
func (st *state) seekSession(r *request, v *verdict) {
	v.found = r.server.Seek(r.ctx, r, 0)
	v.err = v.found.Err
	if v.err == nil && v.found.Session == nil {
		v.need = needSession
	}
}

// mayCall reports whether the tool of r may be called, according to the config, the list of tools and people. It checks
// in this order: what the config hides or denies; what can be decided before the server is started; the definition of
// the tool; the consent to it.
func (st *state) mayCall(r *request, p *passage) (v verdict) {
	s, policy := r.server, r.server.launch.Policy(r.tool)
	asks := policy == config.Ask && !p.call.Preapproved
	switch {
	case !s.Conf().Tools.Visible(r.tool):
		v.err = st.call(r).Hidden(r.tool)
		return v
	case !s.Up() && s.Conf().Policy(r.tool) == config.Allow && policy == config.Ask:
		// A yes to the launch allows the tool, too. It is asked for first, so that it is the only question.
		st.seekSession(r, &v)
		return v
	case policy == config.Deny:
		v.err = st.call(r).Denied(r.tool)
		return v
	case asks && !p.fresh:
		v.need = needApprovals
		return v
	case asks && !st.core.Shows().Has(event.PromptToolApproval, false) &&
		!st.grants.HoldsForAny(grants.CallKey(s.name, s.Key(), r.tool, "")):
		v.err = st.call(r).NoApprover(r.tool)
		return v
	}
	if v.tool = st.toolNow(r, p); v.tool == nil {
		known, _ := s.Tools()
		switch {
		case !s.Up() && known == nil && !p.recalled:
			v.need = needKeptTools
		case !s.Up():
			st.seekSession(r, &v)
		default:
			v.need = needList
		}
		return v
	}
	r.called(v.tool)
	if p.call.AppOf != "" && v.tool.UI.HiddenFromApps {
		v.err = st.call(r).NotForApps(r.tool)
		return v
	}
	terms := st.terms(r, v.tool)
	switch {
	case p.call.Preapproved, terms == p.agreed, st.settled(&terms):
	default:
		asked := terms // a copy, so that only a call that asks allocates memory for the terms
		v.need, v.terms = needYes, &asked
	}
	return v
}

// toolNow returns the present definition of r's tool: as the present connection has listed it or, without one, an
// earlier connection. It returns nil if the tools have to be listed.
func (st *state) toolNow(r *request, p *passage) *mcp.Tool {
	s := r.server
	known, current := s.Tools()
	if tool, ok := servers.FindTool(known, r.tool); ok && (current || !s.Up()) {
		return tool
	}
	if !current && s.Up() && p.lists >= enoughLists && p.of == s.Session() {
		return p.tool // the server has since said that its tools changed
	}
	return nil
}

// called records the title of r's tool.
func (r *request) called(tool *mcp.Tool) { r.title = bounds.Cut(tool.Title, bounds.ToolTitleBytes) }

// get obtains what r needs according to v.
func (h *Hub) get(r *request, p *passage, v *verdict) (err error) {
	switch v.need {
	case needKeptTools:
		r.server.Recall()
		p.recalled = true
		return nil
	case needApprovals:
		h.grants.Refresh(grants.Call)
		p.fresh = true
		return nil
	case needSession:
		_, err = r.server.Await(r.ctx, r, v.found)
	case needList:
		p.lists++
		p.tool, p.of, err = offers.FindTool(r.ctx, r.server.Server, r, r.id, r.tool)
	case needTurn:
		select {
		case <-v.turn:
		case <-r.ctx.Done():
			err = context.Cause(r.ctx)
		}
	case needYes:
		var yes bool
		if yes, err = h.approve(r, p.call, v.tool, v.terms); yes {
			p.agreed = *v.terms
		}
	}
	p.fresh = false
	return err
}
