package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// House is the part of the hub that all servers share: its lock and its goroutines.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// Go runs f on a goroutine that the hub waits for when it is closed. It is called with the lock.
	Go(f func())
	// Draining reports whether nothing may start any more. It is called with the lock.
	Draining() bool
}

// Owner is the hub's side of a Server: what the Server asks for, and what it reports. All methods are called with the
// hub's lock held, except where noted.
type Owner interface {
	// Prepare makes an entry ready to be started: it obtains the user's consent to the launch and resolves every
	// reference. It may ask a person. It is called without the lock.
	Prepare(ctx context.Context, conf config.Server) (config.Resolved, error)
	// AskSignIn shows a sign-in to a person, as signin.Asker does. wanted reports whether a caller of SignIn waits for it,
	// as opposed to a start of the server. told is called with +1 when a question opens and with -1 when it closes. Both
	// run with the lock held; AskSignIn itself is called without it.
	AskSignIn(ctx context.Context, q event.SignInQuestion, wanted func() bool, told func(by int)) error
	// BeginStart makes the request that stands for a start. expire ends the start when limit is over, not counting the
	// time in which a person is asked. A limit of 0 means no limit.
	BeginStart(limit time.Duration, expire func()) Start
	// Connect returns the hub's side of a new connection, and those options of its session that the hub decides.
	Connect(start Start, number core.ConnectionNumber) (Client, mcp.Options)

	// Info returns the server as windows show it: Server.Info, completed with what only the hub knows.
	Info() event.ServerInfo
	// Shown tells the windows of the server.
	Shown(e core.ServerShown)
	// Ordered is called when a person or the host has ordered something of the server. It unmutes the server. With start,
	// it also lets a consent to the launch that was declined be asked for again.
	Ordered(start bool)
	// TookEffect tells whoever gave the order of ctx that the order has taken effect. It is called without the lock.
	TookEffect(ctx context.Context)
	// SeeWithdrawals is called before the requests of the server may be cancelled. It tells the core which questions the
	// server has withdrawn, as far as the goroutines that wait for the answers have not run yet.
	SeeWithdrawals()

	// Refusal returns the error for a caller that wants the server while the hub refuses it, for example because a person
	// has declined its launch, or nil if the hub does not refuse it.
	Refusal() error
	// MustAsk reports whether a start would have to ask a person to consent to the launch.
	MustAsk() bool

	// ToolsChanged tells the windows that the list of tools may have changed.
	ToolsChanged()
	// Up is called when the server has become ready.
	Up()
	// Rested is called when nothing of the server runs any more. Another config entry of its name may take its place then.
	Rested()
	// Stderr is called with each line of the server's stderr, secrets removed. It is called without the lock.
	Stderr(line string)
}

// Start is the request that represents a start of the server to people. Its methods are called with the lock held.
type Start interface {
	// End applies e, which it completes, and so ends the request; a nil err means that the server is ready.
	End(err *event.Error, e core.StartOver)
}

// Client is the hub's side of one connection: it answers the server's requests and hears its notifications.
type Client interface {
	mcp.Handler
	// Capabilities returns the client capabilities that are declared to the server. It takes the lock.
	Capabilities() mcp.Capabilities
	// Offers returns the capabilities that were declared to the server, and those that would be declared now. It is called
	// with the lock held.
	Offers() (was, is mcp.Capabilities)
}
