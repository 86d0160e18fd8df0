package gateway

import (
	"cmp"
	"log/slog"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// Options of a Gateway. The zero value is usable. Where they say nothing the profile counts, and then the default.
type Options struct {
	// Title names the gateway in windows and logs; "" is "gateway".
	Title string
	// Profile names a profile of the config: which servers and tools there are. "" is all.
	Profile string
	// Approval is "window" or "client": the client asks its user before a tool is called. What the config denies stays
	// denied, and behind call_tool windows are asked all the same. Default "window".
	Approval string
	// Questions is who is asked what servers ask: "client", "window" or "either". Default "client".
	Questions string
	// Tools is how tools are listed: "all", "search" or "auto". Default "all".
	Tools string
	// MaxTokens bounds the results of tools; 0 is no bound.
	MaxTokens int
	// PlainNames leaves the names of tools and prompts as the servers gave them where no two are alike.
	PlainNames bool
	// CancelReason is what a server is told when a client cancels a request without a reason; "" is nothing.
	CancelReason string
	// Bounds on what clients may take.
	Bounds mcpserver.Bounds
	// Advice says to a model what to do when nobody can approve; "": it names the command mcphub mcp.
	Advice string
	// Problem is told what a profile names and is not there, once for each, as soon as that is known. It must not block
	// for long. Nil: the log is told.
	Problem func(config.Problem)
	// Trouble is told why a server could not be started of which it is not known what it offers: nobody can call what is
	// not listed. It is told once for each reason, and must not block for long. Nil: the log is told.
	Trouble func(server string, e *event.Error)
	// Logger; nil discards. Payloads are never logged.
	Logger *slog.Logger
}

// The words of Options.
const (
	ApprovalWindow = "window"
	ApprovalClient = "client"
	ToolsAll       = "all"
	ToolsSearch    = "search"
	ToolsAuto      = "auto"
)

// Questions are the words of Options.Questions.
var Questions = map[string]hub.Questions{"client": hub.AskClient, "window": hub.AskWindows, "either": hub.AskEither}

// filled gives the options with what the profile says, and the defaults.
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
	if o.Problem == nil {
		o.Problem = func(p config.Problem) { o.Logger.Warn("a profile names what is not there", "problem", p.String()) }
	}
	return o
}
