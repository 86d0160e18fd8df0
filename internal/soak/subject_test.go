package soak

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/peers"
)

const (
	legacy = "legacy"
	modern = "modern"
)

// subject is one server over one transport in one era.
type subject struct {
	name      string
	transport string // stdio, http or sse
	era       string
	weight    int // its share of the calls in the long form
	command   func(testing.TB) (string, []string)
	serve     func(testing.TB) *peers.Server
	tools     tools
	bare      bool // the server keeps no journal
	// exact: the server's questions come on the stream of their call, so the hub knows which call they belong to.
	exact bool
	most  int // the most calls at a time; 0: no limit
}

// tools are the calls that a server supports. %q in the arguments is replaced by the tag.
type tools struct {
	works  call
	quick  call // answers at once and asks nothing
	form   call // tool is "" if the server cannot ask
	sample call
}

type call struct{ tool, arguments string }

var own = tools{
	works:  call{"slow", `{"ms":10000,"steps":100}`},
	quick:  call{"slow", `{"ms":1,"steps":1}`},
	form:   call{"ask", `{"about":%q}`},
	sample: call{"sample", `{"prompt":%q}`},
}

// ofEverything are the tools of server-everything. It works on after a cancel, so its calls are short.
var ofEverything = tools{
	works:  call{"trigger-long-running-operation", `{"duration":1,"steps":2}`},
	quick:  call{"echo", `{"message":"Hello"}`},
	form:   call{"trigger-elicitation-request", `{}`},
	sample: call{"trigger-sampling-request", `{"prompt":%q,"maxTokens":10}`},
}

var subjects = []subject{
	{name: "typescript1", transport: "stdio", era: legacy, weight: 4, command: peers.TypeScript1.Stdio, tools: own},
	{name: "typescript1", transport: "http", era: legacy, weight: 2, serve: peers.TypeScript1.HTTP, tools: own,
		exact: true},
	{name: "typescript1", transport: "sse", era: legacy, weight: 2, serve: peers.TypeScript1.HTTP, tools: own},
	{name: "typescript2", transport: "stdio", era: legacy, weight: 4, command: peers.TypeScript2.Stdio, tools: own},
	{name: "typescript2", transport: "stdio", era: modern, weight: 4, command: peers.TypeScript2.Stdio, tools: own},
	// Its ctx.mcpReq.elicitInput and requestSampling name no related request, so its transport sends them on the GET
	// stream.
	{name: "typescript2", transport: "http", era: legacy, weight: 2, serve: peers.TypeScript2.HTTP, tools: own},
	{name: "typescript2", transport: "http", era: modern, weight: 2, serve: peers.TypeScript2.HTTP, tools: own,
		exact: true},
	{name: "gosdk", transport: "stdio", era: legacy, weight: 40, command: peers.GoSDK.Stdio, tools: own},
	{name: "gosdk", transport: "stdio", era: modern, weight: 39, command: peers.GoSDK.Stdio, tools: own},
	{name: "gosdk", transport: "http", era: legacy, weight: 4, serve: peers.GoSDK.HTTP, tools: own, exact: true},
	{name: "gosdk", transport: "http", era: modern, weight: 10, serve: peers.GoSDK.HTTP, tools: own, exact: true},
	{name: "gosdk", transport: "sse", era: legacy, weight: 6, serve: peers.GoSDK.HTTP, tools: own},
	// Over stdio mcp-go runs five calls at a time, cancelled ones included, and queues 100 more. It runs a further one
	// in the goroutine that reads, so it reads nothing more, and waits for ever if that call asks.
	{name: "mcpgo", transport: "stdio", era: legacy, weight: 5, command: peers.MCPGo.Stdio, tools: own, most: 4},
	{name: "mcpgo", transport: "stdio", era: modern, weight: 5, command: peers.MCPGo.Stdio, tools: own, most: 4},
	{name: "mcpgo", transport: "http", era: legacy, weight: 2, serve: peers.MCPGo.HTTP, tools: own},
	{name: "mcpgo", transport: "http", era: modern, weight: 8, serve: peers.MCPGo.HTTP, tools: own, exact: true},
	{name: "mcpgo", transport: "sse", era: legacy, weight: 4, serve: peers.MCPGo.HTTP,
		tools: tools{works: own.works, quick: own.quick}},
	{name: "everything", transport: "stdio", era: legacy, weight: 2, command: peers.Everything, tools: ofEverything},
	{name: "everything", transport: "http", era: legacy, weight: 1, serve: peers.EverythingHTTP, tools: ofEverything,
		bare: true},
	{name: "everything", transport: "sse", era: legacy, weight: 1, serve: peers.EverythingSSE, tools: ofEverything,
		bare: true},
}

func (s *subject) String() string { return s.name + "/" + s.transport + "/" + s.era }

// open starts the server, and a hub with that server in its config.
func (s *subject) open(t *testing.T, w *witness) *hub.Hub {
	t.Helper()
	o := hub.Options{Logger: slog.New(&w.unasked)}
	entry, open := s.connect(t, w)
	o.Open = open
	return load(t, o, fmt.Sprintf(`"s":%s`, entry))
}

// load opens a hub with servers.
func load(t *testing.T, o hub.Options, entries string) *hub.Hub {
	t.Helper()
	h := hub.New(o)
	_, problems, _, err := h.LoadConfig(t.Context(), []hub.ConfigSource{{Scope: "user", JSON: `{"servers":{` + entries +
		`}}`}})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	return h
}

// connect returns the server's entry in a config, and what starts it; nil if it is at a URL.
func (s *subject) connect(t *testing.T, w *witness) (entry string, open func(config.Server, func(string)) mcp.Opener) {
	t.Helper()
	if s.name == "raw" {
		return fmt.Sprintf(`{"command":"raw","era":%q,"alwaysAllow":["*"]}`, s.era), inMemory(w, rawServer(s.era))
	}
	if s.command != nil {
		command, args := s.command(t)
		entry = fmt.Sprintf(`"command":%q,"args":%s`, command, quoted(args))
		open = stdio(w, append(process.Environment(os.Environ(), process.Own, nil), peers.JournalVariable+"="+
			os.DevNull))
	} else {
		server := s.serve(t)
		address := server.URL
		if s.transport == "sse" {
			address = server.SSEURL
		}
		if s.bare {
			address = tapped(t, w, address)
		} else {
			journaled(w, server, "")
		}
		entry = fmt.Sprintf(`"type":%q,"url":%q`, s.transport, address)
	}
	return fmt.Sprintf(`{%s,"era":%q,"alwaysAllow":["*"]}`, entry, s.era), open
}
