package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// House is the hub that all servers are in.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// Go runs f on a goroutine that the hub waits for when it is closed. It is called with the lock.
	Go(f func())
	// Draining tells whether nothing starts any more. It is called with the lock.
	Draining() bool
}

// Owner is what the hub knows of one server and the room of servers does not. All methods are called with the lock, but
// for those that say otherwise.
type Owner interface {
	// Prepare brings what the config says to the point where it can be started: the user has agreed to it, and every
	// reference is resolved. It may ask a person. It is called without the lock.
	Prepare(ctx context.Context, conf config.Server) (config.Resolved, error)
	// AskSignIn shows a sign-in to a person, as signin.Asker says. wanted tells whether somebody waits for it who does not
	// wait for a start of the server, told is called when a question opens (+1) and is over (-1), both with the lock.
	// AskSignIn is called without it.
	AskSignIn(ctx context.Context, q signin.Prompt, wanted func() bool, told func(by int)) error
	// BeginStart begins the request that stands for a start. expire ends the start when limit is over, without the time
	// in which a person is asked; 0 is no limit.
	BeginStart(limit time.Duration, expire func()) Start
	// Connect gives the hub's half of a new connection, and the options of its session as far as they are the hub's.
	Connect(start Start) (Client, mcp.Options)

	// Info is how people see the server: Server.Info and what the hub knows beside it.
	Info() event.ServerInfo
	// Ordered says that somebody wants the server, start that he wants it started: what was refused before may be asked
	// again.
	Ordered(start bool)
	// TookEffect tells who has given the order that ctx is of that it has taken effect. It is called without the lock.
	TookEffect(ctx context.Context)
	// Cancel cancels the requests of the server that can be, and gives what is closed when each is over.
	Cancel(cause *event.CancelCause) (overs []<-chan struct{})

	// Refusal tells why nobody may have the server now, nil otherwise: what only the hub knows, such as a person's No.
	Refusal() error
	// MustAsk tells whether a start would have to ask a person for the consent to the launch.
	MustAsk() bool
	// Use tells what the hub has under way with the server.
	Use() Use
	// Leaving gives what is closed once the requests of the server that have ended are left by their goroutines.
	Leaving() []<-chan struct{}

	// Changed tells the windows how the server is now.
	Changed()
	// ToolsChanged tells the windows that the tools may be other ones.
	ToolsChanged()
	// Up says that the server has a connection now.
	Up()
	// Fell says that client's connection ended by itself.
	Fell(client Client)
	// Rested says that nothing of the server runs any more. The config may let another entry count now.
	Rested()
	// Stderr is a line of its stderr, without secrets. It is called without the lock.
	Stderr(line string)
}

// Start is the request that stands for the start of a server. Its methods are called with the lock.
type Start interface {
	// Held tells whether it waits for a person.
	Held() bool
	// End ends it; nil: the server is ready.
	End(err *event.Error)
}

// Client is the hub's half of one connection: what the server may ask, and whom it tells.
type Client interface {
	mcp.Handler
	// Capabilities is what the server is told that it may ask for. It takes the lock.
	Capabilities() mcp.Capabilities
	// Offers gives what the server was told that it may ask for, and what it would be told now. It is called with the
	// lock.
	Offers() (was, is mcp.Capabilities)
}

// Claim is somebody who wants the connection of a server for a time. Its methods are called with the lock.
type Claim interface {
	// Leased keeps whether the claim counts as a user of the connection.
	Leased() *bool
	// Waits says that the connection has to be waited for.
	Waits()
}

// Use is what the hub has under way with a server.
type Use struct {
	Open  bool // a request, in either direction
	Asked bool // a question that the server asked on its own account
	Task  bool // a task that somebody still wants
}
