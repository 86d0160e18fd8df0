package hub

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"

	"github.com/mcphub-go/mcphub/hub/complaint"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// TraceBundle gives what belongs into a bug report besides the timelines: JSON members of one object. It holds no
// arguments, environment, headers and URLs with queries, and no words of a server; whatever secret got into it all the
// same is taken out at the end.
func (h *Hub) TraceBundle() map[string]any { return h.redactor.Members(h.about()) }

// about is that before secrets are taken out.
func (h *Hub) about() map[string]any {
	st := h.lock()
	defer st.unlock()
	b := &journal.Bundle{Version: h.version, HubID: h.id, Began: h.record.Began(), Problems: h.config.Problems(),
		OpenRequests: len(st.requests), Windows: h.windows.Len()}
	for _, s := range st.servers {
		b.Servers = append(b.Servers, journal.BundledServer{ServerInfo: s.info(), Fault: faultOf(s.Cause()),
			Connected: s.Up()})
	}
	return b.Members()
}

// faultOf says in words of the hub's own what is wrong with a server: the text of err may quote it.
func faultOf(err error) string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if e, ok := errors.AsType[*event.Error](err); ok {
		say("%s", e.Reason)
	}
	ended := ""
	if e, ok := errors.AsType[*mcp.StartError](err); ok {
		say("at %s", e.Stage)
		ended = e.Ended
	}
	if e, ok := errors.AsType[*mcp.EndedError](err); ok {
		say("the connection ended")
		ended = e.Ended
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		say("JSON-RPC error %d", e.Code)
	}
	if e, ok := errors.AsType[*transport.HTTPError](err); ok && e.Status != 0 {
		say("HTTP status %d", e.Status)
	}
	for _, known := range []struct {
		err  error
		text string
	}{
		{jsonrpc.ErrStalled, "it has stopped reading"}, {io.EOF, "it closed its output"},
		{exec.ErrNotFound, "the command was not found"},
		{fs.ErrNotExist, "no such file"}, {fs.ErrPermission, "no permission"},
	} {
		if errors.Is(err, known.err) {
			say("%s", known.text)
		}
	}
	if how := complaint.Without(ended); how != "" {
		say("%s", how)
	}
	return strings.Join(said, "; ")
}
