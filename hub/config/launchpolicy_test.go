package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/event"
)

// A policy with anything in it that the hub does not know for sure cannot be used, and the line is told.
func TestPolicyFaults(t *testing.T) {
	for _, tt := range []struct{ dialect, text, want string }{
		{"", "", "1: the file is empty"},
		{"", "[]", "1: must be an object, is an array"},
		{"", "{\n\"allowedServers\": [}", "2: not JSON"},
		{"", "{\n\"allowedserver\": []}", "2: allowedserver: there is no such key"},
		{"", "{\"onlyRegistry\": false,\n\"onlyRegistry\": true}", `2: the key "onlyRegistry" stands here twice`},
		{"", `{"onlyRegistry": "yes"}`, "1: onlyRegistry: must be true or false, is a string"},
		{"", `{"noPersonalServers": null}`, "1: noPersonalServers: must be true or false, is null"},
		{"", `{"allowedServers": {}}`, "1: allowedServers: must be an array, is an object"},
		{"", `{"deniedServers": null}`, "1: deniedServers: must be an array, is null"},
		{"", "{\"allowedServers\": [\n\"npx\"]}", "2: allowedServers[0]: must be an object, is a string"},
		{"", `{"allowedServers": [{}]}`, "1: allowedServers[0]: must have one key"},
		{"", `{"allowedServers": [{"url": "https://x", "package": "npm:x"}]}`, "1: allowedServers[0]: must have one key"},
		{"", `{"allowedServers": [{"name": "x"}]}`, `1: allowedServers[0]: there is no key "name" in a rule`},
		{"", `{"deniedServers": [{"command": "npx"}]}`, "1: deniedServers[0].command: must be an array, is a string"},
		{"", `{"deniedServers": [{"command": []}]}`, "1: deniedServers[0].command: must begin with a program"},
		{"", `{"allowedServers": [{"command": ["*"]}]}`, "1: allowedServers[0].command: must begin with a program"},
		{"", `{"allowedServers": [{"command": ["x", 1]}]}`, "1: allowedServers[0].command: must be an array of texts"},
		{"", `{"allowedServers": [{"package": 1}]}`, "1: allowedServers[0].package: must be a text, is a number"},
		{"", `{"allowedServers": [{"registry": "a/b"}]}`, `1: allowedServers[0].registry: the registry's list has no server "a/b"`},
		{"", `{"registry": {"servers": []}, "deniedServers": [{"registry": "a/b"}]}`, "1: deniedServers[0].registry: the registry's"},
		{"", `{"registry": "list.json"}`, "1: registry: must be the list of a registry"},
		{"", `{"registry": {}}`, `1: the list of a registry has "servers"`},
		{"", `{"registry": {"servers": [{"server": {}}]}}`, "1: servers[0]: has no name"},
		{PolicyVSCode, `{"chat.mcp.access": "some"}`, `1: chat.mcp.access: must be "none", "registry" or "all"`},
		{PolicyVSCode, `{"chat.mcp.access": true}`, `1: chat.mcp.access: must be`},
		{PolicyVSCode, `{"chat.mcp.gallery.serviceUrl": 1}`, "1: chat.mcp.gallery.serviceUrl: must be a text, is a number"},
		{PolicyCline, `{"mcpMarketplaceEnabled": "no"}`, "1: mcpMarketplaceEnabled: must be true or false, is a string"},
		{PolicyCline, `{"allowedMCPServers": ["x"]}`, "1: allowedMCPServers: must be an object, is a string"},
		{PolicyCline, `{"allowedMCPServers": [{"name": "x"}]}`, `1: allowedMCPServers: must be an array of objects with "id"`},
		{PolicyCline, `{"remoteMCPServers": [{"name": "x"}]}`, `1: remoteMCPServers: must be an array of objects with "url"`},
		{"zed", `{}`, `0: "zed" is no dialect of policies`},
	} {
		p := (&PolicyText{From: "p", Dialect: tt.dialect, Text: []byte(tt.text)}).Policy()
		if got := fmt.Sprintf("%d: %s", p.Line, p.Unreadable); !strings.HasPrefix(got, tt.want) || p.From != "p" {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

const registryList = `{"servers": [
	{"server": {"name": "com.acme/notes", "repository": {"url": "https://github.com/Acme/notes.git"},
		"packages": [{"registryType": "npm", "identifier": "@acme/notes", "version": "1.2.3"},
			{"registryType": "npm", "identifier": "x", "registryBaseUrl": "https://npm.evil.example"}],
		"remotes": [{"type": "streamable-http", "url": "https://mcp.acme.example/mcp"}]}, "_meta": {}},
	{"name": "com.acme/image", "packages": [{"registryType": "oci", "identifier": "ghcr.io/acme/image:1"}]}
], "metadata": {"count": 2}}`

// rulesOf returns what rules name, by list.
func rulesOf(p event.LaunchPolicy) (lines []string) {
	for _, r := range p.Denied {
		lines = append(lines, fmt.Sprintf("denied %s:%d %s %v", r.Name, r.Line, r.Text, r.AnyVersion))
	}
	for _, l := range p.Only {
		line := fmt.Sprintf("only %s:%d", l.Name, l.Line)
		for is, word := range map[bool]string{l.Processes: " processes", l.Remotes: " remotes"} {
			if is {
				line += word
			}
		}
		if l.Processes && l.Remotes {
			line = fmt.Sprintf("only %s:%d all", l.Name, l.Line)
		}
		if l.Personal {
			line += " personal"
		}
		for _, r := range l.Rules {
			line += ", " + r.Text
		}
		lines = append(lines, line)
	}
	return lines
}

// The hub's own keys, those of VS Code and of Cline's remote config become rules.
func TestPolicyDialects(t *testing.T) {
	for _, tt := range []struct {
		dialect, text string
		want          []string
	}{
		{"", "// for all\n{\"$schema\": \"x\",\n\"allowedServers\": [{\"command\": [\"/opt/x\", \"*\"]}, {\"registry\": \"com.acme/notes\"}],\n" +
			"\"deniedServers\": [{\"package\": \"npm:evil\"},\n{\"registry\": \"com.acme/image\"}], \"onlyRegistry\": true, \"noPersonalServers\": true,\n" +
			"\"registry\": " + registryList + "}", []string{
			"denied deniedServers[0]:4 npm:evil false", "denied deniedServers[1]:5 oci:ghcr.io/acme/image:1 true",
			`only allowedServers:3 all, the command ["/opt/x" "*"], npm:@acme/notes@1.2.3, https://mcp.acme.example/mcp`,
			"only onlyRegistry:5 all, npm:@acme/notes@1.2.3, https://mcp.acme.example/mcp, oci:ghcr.io/acme/image:1",
			"only noPersonalServers:5 all personal"}},
		{"", `{"onlyRegistry": false, "noPersonalServers": false}`, nil},
		{"", `{"onlyRegistry": true}`, []string{"only onlyRegistry:1 all"}},
		{"", `{"allowedServers": []}`, []string{"only allowedServers:1 all"}},
		{PolicyVSCode, `{"chat.mcp.access": "all", "chat.mcp.autostart": "never"}`, nil},
		{PolicyVSCode, `{"chat.mcp.access": "none"}`, []string{"only chat.mcp.access:1 all"}},
		{PolicyVSCode, `{"chat.mcp.access": "registry", "registry": {"servers": [{"name": "a", "remotes": [{"url": "https://a.example/"}]}]}}`,
			[]string{"only chat.mcp.access:1 all, https://a.example/"}},
		{PolicyCline, `{"version": "v1", "mcpMarketplaceEnabled": true, "telemetryEnabled": false}`, nil},
		{PolicyCline, `{"version": "v1", "mcpMarketplaceEnabled": false, "blockPersonalRemoteMCPServers": true,
			"remoteMCPServers": [{"name": "a", "url": "https://a.example/mcp", "alwaysEnabled": true}]}`, []string{
			"only mcpMarketplaceEnabled:1 processes personal",
			"only blockPersonalRemoteMCPServers:1 remotes personal, https://a.example/mcp"}},
		{PolicyCline, `{"allowedMCPServers": [{"id": "https://github.com/acme/notes"}], "registry": ` + registryList + "}",
			[]string{"only allowedMCPServers:1 processes personal, npm:@acme/notes@1.2.3, https://mcp.acme.example/mcp"}},
	} {
		p := (&PolicyText{From: "p", Dialect: tt.dialect, Text: []byte(tt.text)}).Policy()
		if diff := cmp.Diff(tt.want, rulesOf(p)); diff != "" || p.Unreadable != "" {
			t.Errorf("%s: %s\n(-want +got):\n%s", tt.text, p.Unreadable, diff)
		}
	}
}

// A file that is not there is no policy; one that is there and cannot be read, or whose list cannot, is one that cannot
// be used.
func TestPolicyFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.json")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if p := ReadPolicyFile(file); p != nil {
		t.Errorf("without a file: %+v", p)
	}
	write("policy.json", `{"registry": "list.json", "onlyRegistry": true}`)
	if p := ReadPolicyFile(file).Policy(); !strings.Contains(p.Unreadable, "list.json cannot be read: ") {
		t.Errorf("without the list: %+v", p)
	}
	write("list.json", "{\n\"servers\": 1}")
	if p := ReadPolicyFile(file).Policy(); p.From != filepath.Join(dir, "list.json") || p.Line != 2 {
		t.Errorf("a broken list: %+v", p)
	}
	write("list.json", registryList)
	before := ReadPolicyFile(file)
	if p := before.Policy(); p.Unreadable != "" || p.From != file || len(p.Only) != 1 || len(p.Only[0].Rules) != 3 {
		t.Errorf("with a list: %+v", p)
	}
	if !before.Same(ReadPolicyFile(file)) || before.Same(nil) {
		t.Error("an unchanged file is taken for another one, or none for it")
	}
	write("list.json", `{"servers": []}`)
	if before.Same(ReadPolicyFile(file)) {
		t.Error("another list is taken for the same one")
	}
	if p := ReadPolicyFile(dir).Policy(); !strings.Contains(p.Unreadable, "no regular file") {
		t.Errorf("a folder: %+v", p)
	}
}

// The schema of the file has the keys that the reader knows.
func TestPolicySchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema", "policy.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		`{"$schema": "x"}`: true, `{"allowedServers": [{"command": ["x", "*"]}], "deniedServers": []}`: true,
		`{"deniedServers": [{"url": "https://x.example/*"}, {"package": "oci:x"}], "noPersonalServers": true}`: true,
		`{"onlyRegistry": true, "registry": {"servers": []}, "allowedServers": []}`:                            true,
		`{"denied": []}`: false, `{"allowedServers": [{"command": "x"}]}`: false, `{"allowedServers": [{}]}`: false,
		`{"allowedServers": [{"url": "https://x.example/", "command": ["x"]}]}`: false, `{"onlyRegistry": 1}`: false,
		`{"allowedServers": [{"name": "x"}]}`: false, `{"registry": {}}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		p := (&PolicyText{From: "p", Text: []byte(text)}).Policy()
		if err := resolved.Validate(v); (err == nil) != valid || (p.Unreadable == "") != valid {
			t.Errorf("%s: by the schema %v, by the reader %q", text, err, p.Unreadable)
		}
	}
	if n := len(schema.Properties); n != 6 {
		t.Errorf("the schema has %d keys", n)
	}
}
