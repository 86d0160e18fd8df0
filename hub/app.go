package hub

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Windows draw the views of tool calls (MCP Apps). What a view asks for comes as an order of its window that names the
// call. A view is a page that the call's server wrote: it may reach only that server, and only what that server offers
// to views. A server that gets the same name later, by a change of the config, is another server.

// mayBeOfApp returns an error if a view asks for something of a server that is not its own. Otherwise it makes the view
// the caller that people see, if no other caller is named.
func (st *state) mayBeOfApp(o *outgoing, s *server) *event.Error {
	if o.AppOf == "" {
		return nil
	}
	tool, of, launch := "", "", ""
	if open := st.requests[st.core.ByID(o.AppOf)]; open != nil && open.method == methodCallTool {
		tool, of, launch = open.tool, open.server.name, open.launch
	} else if open == nil {
		tool, of, launch = st.kept.Tool(o.AppOf)
	}
	switch {
	case tool == "":
		return event.Fail(event.CodePermissionDenied, event.ReasonNotForApps,
			[]string{"server", s.name, "request_id", bounds.Printable(o.AppOf)},
			"the tool call %q whose view asks for this is not known any more: call the tool again, and open its view",
			bounds.Printable(o.AppOf))
	case of != s.name:
		return event.Fail(event.CodePermissionDenied, event.ReasonNotForApps,
			[]string{"server", s.name, "request_id", bounds.Printable(o.AppOf)},
			"a view of server %q has asked for something of server %q: views reach their own server alone", of, s.name)
	case launch != s.Key():
		return event.Fail(event.CodePermissionDenied, event.ReasonNotForApps,
			[]string{"server", s.name, "request_id", bounds.Printable(o.AppOf)},
			"the view of %q is not of what runs as server %q now, whose entry has changed: call the tool again, and open "+
				"its view", bounds.Printable(o.AppOf), s.name)
	}
	if o.CallerName == "" {
		o.CallerName = "view of " + tool
	}
	return nil
}
