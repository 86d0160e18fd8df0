//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/peers"
)

// inspect runs the inspector's command line; target are the arguments that name the server, args say what to do.
func (p *place) inspect(target []string, args ...string) (result json.RawMessage, failure string) {
	p.t.Helper()
	command := slices.Concat(peers.Inspector(p.t), target, []string{"--format", "json", "-q"}, args)
	cmd := exec.CommandContext(p.t.Context(), command[0], command[1:]...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env = p.dir, append(p.gatewayEnvironment(), "HOME="+p.file("home"))
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, err.Error() + ": " + errs.String() + out.String()
	}
	if result = jsontext.Get(out.Bytes(), "result"); result == nil {
		p.t.Fatalf("%q: it says %q, %q", args, out.String(), errs.String())
	}
	return result, ""
}

// TestGatewayInspector_long: the inspector's command line lists, calls, reads and gets through the gateway, in both
// eras, over stdio and over HTTP, and makes 200 calls as a load. The short form takes each era and each way once, and
// all that can be asked in one of them.
func TestGatewayInspector_long(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		for _, way := range []string{"stdio", "HTTP"} {
			// Each start of Node takes a second, and what is not listed or called is the same on each way.
			whole := (era == "legacy") == (way == "stdio")
			if testing.Short() && !whole {
				continue
			}
			whole = whole && !(testing.Short() && era == "modern")
			t.Run(era+" on "+way, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				if err := os.Mkdir(p.file("home"), 0o700); err != nil {
					t.Fatal(err)
				}
				config, _ := p.behindGateway(behindGateway[0])
				target := []string{p.hub, "mcp", config}
				if way == "HTTP" {
					address, authorization := p.gatewayHTTP(config)
					target = []string{"--transport", "http", "--server-url", address, "--header",
						"Authorization: " + authorization, "--stored-auth-only"}
				}
				target = append(target, "--protocol-era", era)
				holds := func(wants []string, args ...string) json.RawMessage {
					t.Helper()
					result, failure := p.inspect(target, args...)
					for _, want := range wants {
						if !bytes.Contains(result, []byte(want)) {
							t.Errorf("%q: no %s in %.300s%s", args, want, result, failure)
						}
					}
					return result
				}
				holds([]string{`"p__slow"`, `"e__echo"`}, "--method", "tools/list")
				holds([]string{"Echo: ñandú"}, "--method", "tools/call", "--tool-name", "e__echo",
					"--tool-args-json", `{"message":"ñandú"}`)
				if whole {
					readsAndGets(p, era, target, holds)
					holds([]string{`"ok":200`, `"errors":0`, `"toolErrors":0`}, "--method", "tools/call", "--tool-name", "e__echo",
						"--tool-args-json", `{"message":"x"}`, "--load", "--load-requests", "200")
				}
			})
		}
	}
}

// readsAndGets lists and reads resources, templates and prompts with the inspector.
func readsAndGets(p *place, era string, target []string, holds func(wants []string, args ...string) json.RawMessage) {
	p.t.Helper()
	holds([]string{`"uriTemplate"`}, "--method", "resources/templates/list")
	resources := holds([]string{`"uri"`}, "--method", "resources/list")
	uri := jsontext.String(jsontext.Get(firstOf(jsontext.Get(resources, "resources")), "uri"))
	holds([]string{`"contents"`, `"text"`}, "--method", "resources/read", "--uri", uri)
	prompts := holds([]string{`"e__`}, "--method", "prompts/list")
	name := jsontext.String(jsontext.Get(firstOf(jsontext.Get(prompts, "prompts")), "name"))
	holds([]string{`"messages"`}, "--method", "prompts/get", "--prompt-name", name)
	if era == "legacy" { // 2026-07-28 has a level in each request
		holds(nil, "--method", "logging/setLevel", "--log-level", "debug")
	}
	if _, failure := p.inspect(target, "--method", "tools/call", "--tool-name",
		"e__nothing"); !strings.Contains(failure, "not found") {
		p.t.Errorf("an unknown tool: %s", failure)
	}
}

func firstOf(list json.RawMessage) (first json.RawMessage) {
	jsontext.Elements(list, func(e json.RawMessage) bool {
		first = e
		return false
	})
	return first
}
