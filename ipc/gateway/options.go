package gateway

import (
	"cmp"
	"log/slog"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// Options of a Gateway. The zero value is usable. A zero field takes its value from the profile, and then from the
// default.
type Options struct {
	// Title names the gateway in windows and logs; "" is "gateway".
	Title string
	// Profile names a profile of the config, which selects servers and tools. "" selects all of them.
	Profile string
	// Approval is "window" or "client". With "client", the client is trusted to ask its user before it calls a tool. What
	// the config denies stays denied, and tools that are called by call_tool are approved in windows all the same. Default
	// "window".
	Approval string
	// Questions says who answers the questions of servers: "client", "window" or "either". Default "client".
	Questions string
	// Tools is how tools are listed: "all", "search" or "auto". Default "all".
	Tools string
	// MaxTokens bounds the results of tools; 0 means no bound.
	MaxTokens int
	// PlainNames keeps the servers' own names of tools and prompts. If two servers have the same, the first one that had
	// it keeps it. A name with "__" in it, or that ends like a hash, is not kept: another tool may need it.
	PlainNames bool
	// CancelReason is the reason sent to a server when a client cancels a request without giving one. "" sends none.
	CancelReason string
	// Bounds limits what clients may use.
	Bounds mcpserver.Bounds
	// Advice tells a model why nobody could be asked, and what to do. "" advises the command mcphub mcp.
	Advice string
	// Problem is called once for each server or tool that a profile names and that does not exist, when that is detected.
	// It must not block for long. If it is nil, the problem is logged.
	Problem func(config.Problem)
	// NameTaken is called once for each tool or prompt that cannot have its name for clients, because another one has it.
	// It must not block for long. If it is nil, it is logged.
	NameTaken func(NameTaken)
	// Trouble is called if a server had to be started to learn its tools, and the start failed. Until a start succeeds,
	// clients cannot call its tools. Trouble is called again only for a different error, and must not block for long. If
	// it is nil, the error is logged.
	Trouble func(server string, e *event.Error)
	// Logger receives log records; nil discards them. Payloads are never logged.
	Logger *slog.Logger
}

// The values of Approval and Tools in Options.
const (
	ApprovalWindow = "window"
	ApprovalClient = "client"
	ToolsAll       = "all"
	ToolsSearch    = "search"
	ToolsAuto      = "auto"
)

// Questions maps the values of Options.Questions.
var Questions = map[string]event.Audience{"client": event.AskClient, "window": event.AskWindows,
	"either": event.AskEither}

// filled returns the options, completed from the profile and then with the defaults.
func (o Options) filled(p *config.Profile) Options {
	if p != nil {
		o.Approval, o.Questions, o.Tools = cmp.Or(o.Approval, p.Approval), cmp.Or(o.Questions, p.Questions),
			cmp.Or(o.Tools, p.ToolsMode)
		o.MaxTokens = cmp.Or(o.MaxTokens, p.MaxTokens)
		o.PlainNames = o.PlainNames || p.PlainNames
	}
	o.Title, o.Approval, o.Questions, o.Tools = cmp.Or(o.Title, "gateway"), cmp.Or(o.Approval, ApprovalWindow),
		cmp.Or(o.Questions, "client"), cmp.Or(o.Tools, ToolsAll)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Trouble == nil {
		o.Trouble = func(server string, e *event.Error) {
			o.Logger.Warn("it is not known what a server offers", "server", server, "error", e.Message)
		}
	}
	if o.NameTaken == nil {
		o.NameTaken = func(t NameTaken) { o.Logger.Warn("a name for clients is taken", "name", t.String()) }
	}
	if o.Problem == nil {
		o.Problem = func(p config.Problem) { o.Logger.Warn("a profile names what is not there", "problem", p.String()) }
	}
	return o
}
