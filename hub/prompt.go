package hub

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// prompt is what the hub keeps of an open question, besides what the core knows of it. It is open as long as it is in
// state.prompts.
type prompt struct {
	number    core.PromptNumber
	id        string
	info      event.PromptInfo
	request   *request
	withTools bool          // sampling that brings tools
	asker     *connection   // the connection that asked; nil for the hub's own questions
	agrees    *core.Terms   // what a yes to a tool approval holds for; nil for all others
	launch    *grants.Form  // what a yes to a launch holds for; nil for all others
	settled   chan closing  // buffered: it gets one value, when the question closes
	answer    closing       // what an answer says, besides how the question closes
	timer     *time.Timer   // nil = no limit
	caller    Caller        // the client that is asked, too; nil: only windows are asked
	question  *mcp.Question // of a server
	asked     context.Context
	endAsking context.CancelCauseFunc
	hidden    bool    // only caller is asked, and no window shows it
	with      *search // further servers that wait for the answer; nil: none
	about     bool    // it is about servers, whose clocks it stops
	// changed is called, with the lock held, when the question has opened (+1) or closed (-1); may be nil
	changed func(by int)
}

// closing is how a prompt ended.
type closing struct {
	cause    event.PromptCause
	origin   event.Origin
	reason   string
	windowID string
	action   event.Action // the answer to the asker
	scope    event.ApprovalScope
	content  string
	byHost   bool            // the host keeps the value of an input itself
	result   json.RawMessage // the answer of a caller, as it came
	refusal  *jsonrpc.Error  // the error that a caller answered with
}

func (c *closing) end() core.End {
	return core.End{Cause: c.cause, Origin: c.origin, Reason: c.reason, Window: c.windowID}
}

// ask shows a question to the windows, and waits for the first answer or another end. Every question to a person is
// asked by it. open opens the prompt, with the lock held; if it returns nil, nobody is asked, and ask returns the zero
// closing. over handles the end, with the lock held again, and its results are those of ask. If the closing that over
// gets is zero, ctx has ended, and the prompt may still be open.
func (h *Hub) ask(ctx context.Context, open func(*state) (*prompt, error),
	over func(*state, *prompt, closing) (closing, error)) (c closing, err error) {
	var p *prompt
	var first Caller
	h.update(func(st *state) {
		if p, err = open(st); p != nil {
			first = p.caller
			st.asks(p, +1)
		}
	})
	if p == nil {
		return closing{}, err
	}
	stop := h.askCaller(p, first)
	select {
	case c = <-p.settled:
	case <-ctx.Done():
	}
	stop(answeredElsewhere(c, context.Cause(ctx)))
	st := h.lock()
	defer st.unlock()
	st.asks(p, -1)
	return over(st, p, c)
}

// open opens p, and the request that r describes, if the question is a request of its own. It returns why nobody is
// asked.
func (st *state) open(p *prompt, r *request, e core.Asked) core.Refusal {
	e.Kind, e.WithTools = p.info.Kind, p.withTools
	st.making, st.asking = r, p
	got := st.apply(e)
	st.making, st.asking = nil, nil
	return got.refused
}

// close closes p with an answer. It returns false if p has closed before.
func (st *state) close(p *prompt, c closing) bool {
	if !st.core.Open(p.number) {
		return false
	}
	p.answer = c
	st.apply(core.Answered{Prompt: p.number, End: c.end()})
	return true
}

// isAsked reports whether p is open.
func (st *state) isAsked(p *prompt) bool { return st.prompts[p.number] == p }

// promptNumber returns the number of the question that this hub calls id, 0 if it never made such an id.
func (st *state) promptNumber(id string) core.PromptNumber {
	before, digits, _ := strings.Cut(id, "-"+st.mark+"-")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || before != "prompt" || id != core.OwnID(st.mark, before, n) {
		return 0
	}
	return core.PromptNumber(n)
}

// promptsInOrder returns the open prompts, oldest first.
func (st *state) promptsInOrder() (list []*prompt) {
	for _, n := range st.core.Prompts() {
		list = append(list, st.prompts[n])
	}
	return list
}

// promptsShown returns the open prompts that windows show, oldest first.
func (st *state) promptsShown() []*prompt {
	return slices.DeleteFunc(st.promptsInOrder(), func(p *prompt) bool { return p.hidden })
}

// withTools reports whether an open prompt is a sampling question that brings tools.
func (st *state) withTools(id string) bool {
	p := st.prompts[st.promptNumber(id)]
	return p != nil && p.withTools
}
