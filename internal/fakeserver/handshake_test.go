package fakeserver_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestInitializeAnswersRevision(t *testing.T) {
	for _, tc := range []struct {
		name, offered, want string
		opts                []fakeserver.Option
	}{
		{"echoes a known offer", "2025-03-26", "2025-03-26", nil},
		{"answers an unknown offer with the newest legacy one", "2099-01-01", "2025-11-25", nil},
		{"insists on its own", "2025-11-25", "2024-11-05", []fakeserver.Option{fakeserver.WithRevision("2024-11-05")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in(t, with(tc.opts...), func(t *testing.T, _ *fakeserver.Server, c *client) {
				c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + tc.offered + `"}}`)
				c.wantPart(`"id":1`, `"protocolVersion":"`+tc.want+`"`, `"serverInfo":{"name":"fakeserver"`)
			})
		})
	}
}

func TestHandshakeIsWatched(t *testing.T) {
	in(t, with(), func(t *testing.T, _ *fakeserver.Server, c *client) {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		c.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"not initialized"}}`)
		c.send(`{"jsonrpc":"2.0","id":2,"method":"server/discover"}`)
		c.want(`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"method not found: server/discover"}}`)
		c.initialize()
		c.send(`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		c.want(`{"jsonrpc":"2.0","id":4,"error":{"code":-32600,"message":"duplicate initialize"}}`)
		c.send(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
		c.want(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	})
}

func TestModernWantsMeta(t *testing.T) {
	in(t, with(fakeserver.WithModern()), func(t *testing.T, _ *fakeserver.Server, c *client) {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		c.wantPart(`"id":1`, `-32601`)
		c.send(`{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{` + modernMeta + `}}`)
		c.wantPart(`"id":2`, `"supportedVersions":["2026-07-28"]`, `"resultType":"complete"`)
		c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}`)
		c.wantPart(`"id":3`, `-32602`)
		c.send(`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{` + modernMeta + `}}`)
		c.wantPart(`"id":4`, `"tools":[]`, `"resultType":"complete"`, `"ttlMs":0`)
		c.send(
			`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`)
		c.wantPart(`"id":5`, `-32022`, `"supported":["2026-07-28"]`)
		c.send(`{"jsonrpc":"2.0","id":6,"method":"ping","params":{` + modernMeta + `}}`)
		c.wantPart(`"id":6`, `-32601`)
	})
}

func TestSilentProbeIsNeverAnswered(t *testing.T) {
	in(t, with(fakeserver.WithSilentProbe()), func(t *testing.T, _ *fakeserver.Server, c *client) {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)
		c.quiet()
		c.initialize()
	})
}

func TestExitOnProbeThenServedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeserver.New(fakeserver.WithExitOnProbe())
		c, end := dial(t, s)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)
		c.ended()
		end()
		c, end = dial(t, s)
		defer end()
		c.initialize()
		if m := received(t, s, fakeserver.Method("initialize")); m.Conn != 2 {
			t.Errorf("initialize came on connection %d, want 2", m.Conn)
		}
	})
}
