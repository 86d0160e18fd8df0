package outcome

import (
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// The errors with which a call is refused before anything of it is sent. Each function reads the config of the server,
// so the hub's lock must be held.

// Hidden returns the error for a tool that the config hides.
func (c *Call) Hidden(tool string) *event.Error {
	conf := c.Server.Conf()
	field := "tools.only"
	if hides := (config.ToolFilter{Hidden: conf.Tools.Hidden}); !hides.Visible(tool) {
		field = "tools.hidden"
	}
	setting, where := servers.SettingOf(conf, field)
	return event.Fail(event.CodeNotFound, event.ReasonToolNotFound, c.meta("setting", setting),
		"tool %q of server %q is hidden by %s%s; change that to use it", bounds.Printable(tool), c.Server.Name(), setting,
		where)
}

// Denied returns the error for a tool that the config forbids.
func (c *Call) Denied(tool string) *event.Error {
	return event.Fail(event.CodePermissionDenied, event.ReasonDeniedByPolicy, c.meta("setting", "approvals"),
		"tool %q of server %q is denied by the config%s; change approvals there", tool, c.Server.Name(), c.Server.Where())
}

// NotForApps returns the error for a tool that its server does not offer to views.
func (c *Call) NotForApps(tool string) *event.Error {
	return event.Fail(event.CodePermissionDenied, event.ReasonNotForApps, c.meta(),
		"tool %q of server %q is not for views: its server says so", bounds.Printable(tool), c.Server.Name())
}

// NoApprover returns the error for a tool about which nobody could be asked.
func (c *Call) NoApprover(tool string) *event.Error {
	return c.unasked(fmt.Sprintf("tool %q of server %q needs an approval", tool, c.Server.Name()),
		", set approvals"+c.Server.Where())
}

// UnseenChange returns the error for a tool that has changed since it was first called, if nobody could be asked.
func (c *Call) UnseenChange(tool string) *event.Error {
	return c.unasked(fmt.Sprintf("the definition of tool %q of server %q is not the one that was called before", tool,
		c.Server.Name()), "")
}

func (c *Call) unasked(what, orElse string) *event.Error {
	return event.Unasked(what, event.PromptToolApproval,
		"attach a window that shows tool approvals"+orElse+", or call it preapproved", c.meta("setting", "approvals")...)
}

// Unsettled returns the error for a call whose tool changed again and again before it could be called. lists is how
// often the tools were listed for the call.
func (c *Call) Unsettled(lists int) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerFailed, c.meta(),
		"%s of server %q was not sent: each time that it was to be sent, its definition or the connection had changed "+
			"(the tools were listed %d times for it); call it again later", c.What, c.Server.Name(), lists)
}

func (c *Call) meta(more ...string) []string {
	return append([]string{"server", c.Server.Name(), "request_id", c.ID}, more...)
}
