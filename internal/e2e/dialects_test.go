//go:build unix

package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/peers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// wanted is the value of the variable E2E_WANTED of the hub, to which each file refers in its dialect's own way.
const wanted = "of-the-environment"

// written is the config file of one application, and what the hub must make of it.
type written struct {
	dialect, file string
	text          func(t *testing.T, h hands) string
	said          bool     // the source names the dialect, which the file's name and keys do not show
	reference     string   // what WANTED is for the server; "" = wanted
	local         bool     // the dialect has no servers with a URL
	hidden        string   // a tool that the dialect's own keys hide; "" = it has no such keys
	hides         string   // the key that hides it
	allowed       bool     // the dialect's own keys allow echo
	clock         string   // the setting of the clock that runs out for the server "slow"
	raise         string   // the key of the file that sets it; "" = clock
	warns         []string // the problems that are reported, none of them fatal
	limit         string
}

// hands is what a file has to name.
type hands struct {
	node   string   // the reference server over stdio
	args   []string // of it
	url    string   // the same over Streamable HTTP
	teller string   // this test binary
}

// local is the entry of the reference server, as most dialects have it, with more keys.
func (h hands) local(more object) object {
	return with(object{"command": h.node, "args": h.args, "stop": quickly}, more) // it does not exit by itself
}

var quickly = quick(entry{}).Stop

// slow is the entry of a server whose calls time out.
func (h hands) slow(more object) object {
	return with(object{"command": h.teller, "args": []string{"teller"}, "env": atOnce}, more)
}

// mute is the entry of a server that never becomes ready.
func (h hands) mute(more object) object {
	return with(object{"command": h.teller, "args": []string{"teller", "--mute"}}, more)
}

func with(o, more object) object {
	maps.Copy(o, more)
	return o
}

func inServers(key string, all object) func(*testing.T) string {
	return func(t *testing.T) string { return jsonText(t, object{key: all}) }
}

const (
	summing    = "get-sum"
	operation  = "trigger-long-running-operation"
	allOfATime = `{"duration":60,"steps":600}`
)

var dialects = []written{
	{
		dialect: "vscode", file: ".vscode/mcp.json", clock: "timeouts.total", limit: "900ms", allowed: true,
		text: func(t *testing.T, h hands) string {
			return "// of the team\n" + inServers("servers", object{
				"everything": h.local(object{"type": "stdio", "env": object{"WANTED": "${env:E2E_WANTED}"},
					"approvals": object{"echo": "allow"}}),
				"web": object{"type": "http", "url": h.url}, "slow": h.slow(object{"timeouts": object{"total": "900ms"}}),
			})(t)
		},
	},
	{
		dialect: "portable", file: ".mcp.json", clock: "timeouts.total", limit: "1.1s", hidden: summing,
		hides: "tools", raise: "timeout",
		text: func(t *testing.T, h hands) string {
			return inServers("mcpServers", object{
				"everything": h.local(object{"type": "local", "env": object{"WANTED": "${E2E_WANTED:-not this}"},
					"tools": []string{"echo", "get-env", operation}}),
				"web":  object{"type": "http", "url": "${E2E_UNSET:-" + h.url + "}", "tools": []string{"*"}},
				"slow": h.slow(object{"timeout": 1100}),
			})(t)
		},
	},
	{
		dialect: "roo", file: ".roo/mcp.json", clock: "timeouts.total", limit: "1s", hidden: summing,
		hides: "disabledTools", allowed: true, raise: "timeout",
		text: func(t *testing.T, h hands) string {
			return inServers("mcpServers", object{
				"everything": h.local(object{"env": object{"WANTED": "${env:E2E_WANTED}"}, "alwaysAllow": []string{"echo"},
					"disabledTools": []string{summing}}),
				"web": object{"type": "streamable-http", "url": h.url}, "slow": h.slow(object{"timeout": 1}),
			})(t)
		},
	},
	{
		dialect: "cline", file: "cline_mcp_settings.json", clock: "timeouts.total", limit: "2s", allowed: true,
		raise: "timeout",
		text: func(t *testing.T, h hands) string {
			return inServers("mcpServers", object{
				"everything": object{"transport": h.local(object{"type": "stdio", "env": object{"WANTED": "${env:E2E_WANTED}"}}),
					"autoApprove": []string{"echo"}, "disabled": false},
				"web": object{"transportType": "http", "url": h.url, "timeout": 60}, "slow": h.slow(object{"timeout": 2}),
			})(t)
		},
	},
	{
		dialect: "claude-desktop", file: "claude_desktop_config.json", local: true,
		reference: "${E2E_WANTED}", clock: "timeouts.total", limit: "900ms",
		warns: []string{"Claude Desktop expands none"},
		text: func(t *testing.T, h hands) string {
			return jsonText(t, object{"globalShortcut": "Alt+C", "mcpServers": object{
				"everything": h.local(object{"env": object{"WANTED": "${E2E_WANTED}"}}),
				"slow":       h.slow(object{"timeouts": object{"total": "900ms"}}),
			}})
		},
	},
	{
		dialect: "cursor", file: ".cursor/mcp.json", clock: "timeouts.total", limit: "900ms", hidden: summing,
		hides: "disabledTools", allowed: true,
		text: func(t *testing.T, h hands) string {
			return inServers("mcpServers", object{
				"everything": h.local(object{"env": object{"WANTED": "${env:E2E_WANTED}"}, "alwaysAllow": []string{"echo"},
					"disabledTools": []string{summing}}),
				"web": object{"url": h.url}, "slow": h.slow(object{"timeouts": object{"total": "900ms"}}),
			})(t)
		},
	},
	{
		dialect: "gemini", file: ".gemini/settings.json", clock: "timeouts.total", limit: "1.2s", hidden: summing,
		hides: "excludeTools", allowed: true, raise: "timeout",
		text: func(t *testing.T, h hands) string {
			return jsonText(t, object{"theme": "Dark", "mcp": object{"excluded": []string{"off"}}, "mcpServers": object{
				"everything": h.local(object{"env": object{"WANTED": "$E2E_WANTED"}, "trust": true,
					"excludeTools": []string{summing}}),
				"web": object{"httpUrl": h.url}, "slow": h.slow(object{"timeout": 1200}), "off": h.local(nil),
			}})
		},
	},
	{
		dialect: "codex", file: ".codex/config.toml", clock: "timeouts.total", limit: "1.5s", hidden: summing,
		hides: "disabled_tools", allowed: true, raise: "tool_timeout_sec",
		text: func(_ *testing.T, h hands) string {
			return fmt.Sprintf(`model = "x"
[mcp_servers.everything]
command = %q
args = [%s]
env_vars = ["E2E_WANTED"]
disabled_tools = [%q]
startup_timeout_sec = 50.5
stop = { stdin = "200ms", terminate = "200ms" }
[mcp_servers.everything.tools.echo]
approval_mode = "approve"
[mcp_servers.web]
url = %q
[mcp_servers.slow]
command = %q
args = ["teller"]
env = { GORACE = %q }
tool_timeout_sec = 1.5
`, h.node, quotedList(h.args), summing, h.url, h.teller, atOnce["GORACE"])
		},
	},
	{
		dialect: "opencode", file: "opencode.json", clock: "timeouts.connect", limit: "1.3s", raise: "timeout",
		text: func(t *testing.T, h hands) string {
			return inServers("mcp", object{
				"everything": object{"type": "local", "command": append([]string{h.node}, h.args...),
					"environment": object{"WANTED": "{env:E2E_WANTED}"}, "enabled": true, "timeout": 50_000, "stop": quickly},
				"web": object{"type": "remote", "url": h.url}, "slow": object{"type": "local",
					"command": []string{h.teller, "teller", "--mute"}, "timeout": 1300},
			})(t)
		},
	},
	{
		dialect: "crush", file: "crush.json", clock: "timeouts.connect", limit: "1s", hidden: summing,
		hides: "disabled_tools", raise: "timeout",
		text: func(t *testing.T, h hands) string {
			return inServers("mcp", object{
				"everything": h.local(object{"type": "stdio", "env": object{"WANTED": "$E2E_WANTED"},
					"disabled_tools": []string{summing}, "timeout": 50}),
				"web": object{"type": "http", "url": h.url}, "slow": h.mute(object{"type": "stdio", "timeout": 1}),
			})(t)
		},
	},
	{
		dialect: "mcpServers", file: "servers.json", said: true, reference: "plain", clock: "timeouts.total", limit: "900ms",
		hidden: summing, hides: "disabledTools", allowed: true,
		text: func(t *testing.T, h hands) string {
			return inServers("mcpServers", object{
				"everything": h.local(object{"env": object{"WANTED": "plain"}, "approvals": object{"echo": "allow"},
					"disabledTools": []string{summing}}),
				"web": object{"type": "http", "url": h.url}, "slow": h.slow(object{"timeouts": object{"total": "900ms"}}),
			})(t)
		},
	},
}

func quotedList(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, fmt.Sprintf("%q", w))
	}
	return strings.Join(quoted, ", ")
}

// TestEveryDialect_long: a file of each application, read by its path, with the reference server over stdio and over
// HTTP: started, called, cancelled; its variables, hidden tools, approvals, and its clock, in the unit of the
// application.
func TestEveryDialect_long(t *testing.T) {
	t.Parallel()
	web := peers.EverythingHTTP(t)
	node, args := peers.Everything(t)
	t.Run("of", func(t *testing.T) {
		for _, f := range dialects {
			if testing.Short() && !slices.Contains([]string{"vscode", "codex", "opencode"}, f.dialect) {
				continue // the form of VS Code, TOML, and one that writes everything differently
			}
			t.Run(f.dialect, func(t *testing.T) {
				t.Parallel()
				f.test(t, hands{node: node, args: args, url: web.URL})
			})
		}
	})
}

func (f written) test(t *testing.T, h hands) {
	e := newEstate(t)
	h.teller = e.peer
	source := e.ofUser(e.write(f.file, f.text(t, h)))
	if f.said {
		source.Dialect = f.dialect
	}
	d, _ := e.hubWith([]string{"E2E_WANTED=" + wanted})
	r, err := d.Servers.ReloadConfig(d.ctx, &mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{source}})
	if err != nil || len(r.GetProblems()) != len(f.warns) {
		t.Fatalf("the file has problems: %v, %v", r.GetProblems(), err)
	}
	for i, p := range r.GetProblems() {
		if p.GetFatal() || !strings.Contains(p.GetMessage(), f.warns[i]) {
			t.Errorf("the file has the problem %v", p)
		}
	}
	names := []string{"everything", "slow"}
	if !f.local {
		names = append(names, "web")
	}
	w := d.window("side bar")
	for _, name := range names {
		if s := d.server(name); s.GetConfigDialect() != f.dialect || s.GetConfigFile() != source.Path ||
			s.GetConfigLine() < 1 || s.GetState() != mcphubv1.ServerState_SERVER_STATE_STOPPED {
			t.Errorf("server %s is read as %v", name, s)
		}
	}
	for _, name := range names {
		if name != "slow" {
			f.works(t, d, w, name)
		}
	}
	f.keys(t, d, w)
	f.runsOut(t, d, w, source.Path)
	if f.dialect == "gemini" && d.server("off").GetState() != mcphubv1.ServerState_SERVER_STATE_DISABLED {
		t.Errorf("a server that is excluded is %v", d.server("off"))
	}
}

func preapproved(r *mcphubv1.CallToolRequest) { r.Preapproved = true }

// works calls a tool of a server, and cancels another call.
func (f written) works(t *testing.T, d *door, w *fakeeditor.Window, server string) {
	t.Helper()
	if got := d.call(server, "echo", `{"message":"hello"}`, preapproved).text(); !strings.Contains(got, "hello") {
		t.Errorf("%s: echo gave %q", server, got)
	}
	c := d.call(server, operation, allOfATime, preapproved)
	progressed(w, c.id)
	cancels(t, w, c.id, "enough")
	c.fails("CANCELLED", "CANCELLED")
	cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "enough")
}

// keys checks what the dialect's own keys do to the reference server.
func (f written) keys(t *testing.T, d *door, w *fakeeditor.Window) {
	t.Helper()
	want := f.reference
	if want == "" {
		want = wanted
	}
	if got := d.call("everything", "get-env", `{}`, preapproved).text(); !strings.Contains(got, `WANTED": "`+want+`"`) {
		t.Errorf("the server was started without WANTED=%s: %s", want, got)
	}
	c := d.call("everything", "echo", `{"message":"again"}`)
	if f.allowed {
		c.text()
	} else {
		takes(t, w.Decline(w.WaitPrompt(approval).GetPromptId(), ""))
		c.fails("PERMISSION_DENIED", "DENIED_BY_USER")
	}
	if n := opened(w, approval); (n == 0) != f.allowed {
		t.Errorf("the user was asked %d times", n)
	}
	if listed := slices.Contains(toolNames(t, d, "everything"), summing); listed != (f.hidden != summing) {
		t.Errorf("%s is listed: %v", summing, listed)
	}
	if f.hidden != "" {
		failed := d.call("everything", f.hidden, `{"a":1,"b":2}`, preapproved).fails("NOT_FOUND", "TOOL_NOT_FOUND")
		if !strings.Contains(failed.Meta["setting"], f.hides) || !strings.Contains(failed.Message, filepath.Base(f.file)) {
			t.Errorf("the error does not name what hides the tool: %+v", failed)
		}
	}
}

// runsOut lets a call of the server "slow" time out, and checks that the error names the setting and the key to raise.
func (f written) runsOut(t *testing.T, d *door, w *fakeeditor.Window, path string) {
	t.Helper()
	failed := failure(t, d.call("slow", "hang", `{}`, preapproved))
	reason := map[string]string{"timeouts.total": "TOTAL_TIMEOUT", "timeouts.connect": "CONNECT_TIMEOUT"}[f.clock]
	if failed.Code != "DEADLINE_EXCEEDED" || failed.Reason != reason || failed.Meta["setting"] != f.clock ||
		failed.Meta["limit"] != f.limit ||
		!strings.Contains(failed.Message, "within "+f.limit+"; raise "+cmp.Or(f.raise, f.clock)+" ") ||
		!strings.Contains(failed.Message, path) {
		t.Errorf("the clock ran out with %+v", failed)
	}
}
