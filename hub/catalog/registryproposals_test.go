package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/proposal"
)

// made gives the proposals for the packages and remotes of one server.
func made(t *testing.T, rest string) []*proposal.Proposal {
	t.Helper()
	body := json.RawMessage(`{"server": {"name": "io.example/weather", "version": "1.0.0", ` + rest + `}}`)
	s, ok := readServer(body)
	if !ok {
		t.Fatal("no server")
	}
	var v struct{ Server json.RawMessage }
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return s.proposals("https://registry.example", v.Server)
}

// of gives the proposal for one package.
func of(t *testing.T, pkg string) *proposal.Proposal {
	t.Helper()
	return made(t, `"packages": [{`+pkg+`}]`)[0]
}

// line is the command line of an entry, with its variables, headers and URL.
func line(e proposal.Entry) string {
	words := append([]string{e.Command}, e.Args...)
	for _, m := range []map[string]string{e.Env, e.Headers} {
		for name, value := range m {
			words = append(words, "\n"+name+"="+value)
		}
	}
	slices.Sort(words[1+len(e.Args):])
	return strings.Join(append(words, e.URL), " ")
}

func TestCommandLines(t *testing.T) {
	for name, tt := range map[string]struct {
		pkg    string
		values map[string][]string // by the end of the id
		want   string
	}{
		"npm": {`"registryType": "npm", "identifier": "@a/weather", "version": "1.2.3", "transport": {"type": "stdio"}`, nil,
			"npx -y @a/weather@1.2.3 "},
		"npm, yes": {`"registryType": "npm", "identifier": "w", "version": "1", "runtimeHint": "npx",
			"runtimeArguments": [{"type": "named", "name": "--yes"}, {"type": "positional", "value": "--quiet"}],
			"packageArguments": [{"type": "positional", "value": "a b; rm -rf /"}]`, nil,
			"npx --yes --quiet w@1 a b; rm -rf / "},
		"bunx": {`"registryType": "npm", "identifier": "w", "runtimeHint": "bunx"`, nil, "bunx w "},
		"npm, elsewhere": {`"registryType": "npm", "identifier": "w", "version": "1",
			"registryBaseUrl": "https://npm.company.example/"`, nil, "npx -y --registry https://npm.company.example w@1 "},
		"npm, at home": {`"registryType": "npm", "identifier": "w", "version": "1",
			"registryBaseUrl": "https://registry.npmjs.org/"`, nil, "npx -y w@1 "},
		"pypi": {`"registryType": "pypi", "identifier": "weather-mcp", "version": "0.5",
			"packageArguments": [{"type": "named", "name": "--unit", "choices": ["c", "f"], "default": "c"}]`, nil,
			"uvx weather-mcp@0.5 --unit c "},
		"pypi, chosen": {`"registryType": "pypi", "identifier": "weather-mcp", "version": "0.5",
			"packageArguments": [{"type": "named", "name": "--unit", "choices": ["c", "f"], "default": "c"}]`,
			map[string][]string{"unit": {"f"}}, "uvx weather-mcp@0.5 --unit f "},
		"nuget": {`"registryType": "nuget", "identifier": "Weather.Mcp", "version": "1.0.0",
			"packageArguments": [{"type": "positional", "value": "mcp"}]`, nil, "dnx Weather.Mcp@1.0.0 --yes -- mcp "},
		"oci": {`"registryType": "oci", "identifier": "ghcr.io/a/weather:1.0",
			"runtimeArguments": [{"type": "named", "name": "-v", "value": "{dir}:/data",
				"variables": {"dir": {"format": "filepath", "isRequired": true}}}],
			"environmentVariables": [{"name": "KEY", "isRequired": true, "isSecret": true}, {"name": "OPTIONAL"},
				{"name": "FIXED", "value": "1"}]`,
			map[string][]string{"v.dir": {"/users/me"}, "KEY": {"k"}},
			"docker run -i --rm -v /users/me:/data -e KEY -e FIXED ghcr.io/a/weather:1.0 \nFIXED=1 \nKEY=k "},
		"oci, old": {`"registryType": "oci", "identifier": "a/weather", "version": "1.0",
			"registryBaseUrl": "https://docker.io"`, nil, "docker run -i --rm a/weather:1.0 "},
		"oci, old, elsewhere": {`"registryType": "oci", "identifier": "a/weather", "version": "1.0",
			"registryBaseUrl": "https://ghcr.io"`, nil, "docker run -i --rm ghcr.io/a/weather:1.0 "},
		"repeated": {`"registryType": "npm", "identifier": "w", "version": "1", "packageArguments": [
			{"type": "named", "name": "--dir", "isRepeated": true, "valueHint": "dir"}, {"type": "positional",
			"valueHint": "rest", "isRepeated": true}]`, map[string][]string{"dir": {"a", "b"}, "rest": {"c", "d"}},
			"npx -y w@1 --dir a --dir b c d "},
		"left out": {`"registryType": "npm", "identifier": "w", "version": "1", "packageArguments": [
			{"type": "named", "name": "--dir", "valueHint": "dir"}, {"type": "named", "name": "--verbose"}],
			"environmentVariables": [{"name": "A", "description": "a"}]`, nil, "npx -y w@1 --verbose "},
		"unknown curly": {`"registryType": "npm", "identifier": "w", "version": "1", "environmentVariables": [{"name": "A",
			"value": "{b}-{c}", "variables": {"b": {"default": 7}}}]`, nil, "npx -y w@1 \nA=7-{c} "},
		"secret stays": {`"registryType": "npm", "identifier": "w", "version": "1", "environmentVariables": [{"name": "A",
			"isRequired": true, "isSecret": true, "default": "never"}]`, nil, "npx -y w@1 \nA=${input:weather-ID.A} "},
	} {
		t.Run(name, func(t *testing.T) {
			p := of(t, tt.pkg)
			values := map[string][]string{}
			for end, v := range tt.values {
				i := slices.IndexFunc(p.Inputs, func(in proposal.Input) bool { return strings.HasSuffix(in.ID, "."+end) })
				if i < 0 {
					t.Fatalf("no input %s: %v", end, p.Inputs)
				}
				values[p.Inputs[i].ID] = v
			}
			e, err := p.Fill(values)
			if err != nil || p.Unusable != "" || len(e.Missing) > 0 {
				t.Fatal(err, p.Unusable, e.Missing)
			}
			got := strings.ReplaceAll(line(e), proposal.Prefix("io.example/weather", "https://registry.example"), "weather-ID")
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A package that cannot be used, or must not be, is proposed with the reason why not, and without a command.
func TestUnusable(t *testing.T) {
	const npm = `"registryType": "npm", "version": "1", `
	for pkg, why := range map[string]string{
		`"registryType": "cargo", "identifier": "w"`:                                                 "cargo",
		`"identifier": "w"`:                                                                          "does not say",
		npm + `"identifier": "--package=evil"`:                                                       "name or version",
		npm + `"identifier": "../evil"`:                                                              "name or version",
		npm + `"identifier": "git+ssh://evil"`:                                                       "name or version",
		npm + `"identifier": "a b"`:                                                                  "name or version",
		`"registryType": "npm", "identifier": "w", "version": "1 --evil"`:                            "name or version",
		`"registryType": "pypi", "identifier": "-r"`:                                                 "name or version",
		`"registryType": "oci", "identifier": "--privileged"`:                                        "name or version",
		npm + `"identifier": "w", "registryBaseUrl": "http://evil.example"`:                          "https",
		npm + `"identifier": "w", "transport": {"type": "streamable-http", "url": "http://x"}`:       "web server",
		npm + `"identifier": "w", "environmentVariables": [{"name": "A", "value": "${env:SECRET}"}]`: "variable",
		npm + `"identifier": "w", "environmentVariables": [{"name": "A", "value": "{env:SECRET}"}]`:  "variable",
		npm + `"identifier": "w", "environmentVariables": [{"name": "A", "value": "$(id)"}]`:         "variable",
		npm + `"identifier": "w", "environmentVariables": [{"name": "A=B", "value": "1"}]`:           "no variable has",
		npm + `"identifier": "w", "packageArguments": [{"type": "positional", "value": "a\u202eb"}]`: "cannot be seen",
		npm + `"identifier": "w", "packageArguments": [{"type": "positional", "value": "a\u0007b"}]`: "cannot be seen",
		npm + `"identifier": "w", "packageArguments": [{"type": "odd"}]`:                             "kind",
		npm + `"identifier": "w", "packageArguments": [` + strings.TrimSuffix(strings.Repeat(
			`{"type": "positional", "value": "x"},`, 5000), ",") + `]`: "more arguments",
		`"registryType": "mcpb", "identifier": "https://x.example/a.mcpb"`:                                        "hash",
		`"registryType": "mcpb", "identifier": "file:///a.mcpb", "fileSha256": "` + strings.Repeat("a", 64) + `"`: "address",
	} {
		p := of(t, pkg)
		if !strings.Contains(p.Unusable, why) || p.Usable() || p.Command != "" || p.Download != nil {
			t.Errorf("%.120s: %q", pkg, p.Unusable)
		}
	}
}

func TestRemotes(t *testing.T) {
	list := made(t, `"remotes": [
		{"type": "streamable-http", "url": "https://{tenant}.weather.example/mcp",
			"variables": {"tenant": {"description": "yours", "choices": ["eu", "us"], "default": "eu"}},
			"headers": [{"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": true}}},
				{"name": "X-Trace", "description": "trace"}]},
		{"type": "sse", "url": "http://weather.example/sse"},
		{"type": "carrier-pigeon", "url": "https://weather.example"},
		{"type": "sse", "url": "https://user@weather.example"},
		{"type": "sse", "url": "file:///etc/passwd"},
		{"type": "sse", "url": "https://weather.example/?k=${env:SECRET}"},
		{"type": "sse", "url": "https://weather.example", "headers": [{"name": "Host", "value": "x"}]},
		{"type": "sse", "url": "https://weather.example", "headers": [{"name": "A\nB", "value": "x"}]}]`)
	for i, p := range list {
		if p.Usable() != (i < 2) || p.Kind != proposal.KindRemote {
			t.Errorf("%d %s: %q", i, p.Subject, p.Unusable)
		}
	}
	if w := list[1].Warnings; len(w) != 1 || !strings.Contains(w[0], "not encrypted") || list[1].Transport != "sse" {
		t.Error(w)
	}
	p := list[0]
	token := p.Inputs[slices.IndexFunc(p.Inputs, func(in proposal.Input) bool { return in.Secret })]
	e, err := p.Fill(map[string][]string{token.ID: {"t0p"}})
	if err != nil || line(e) != " \nAuthorization=Bearer t0p https://eu.weather.example/mcp" {
		t.Errorf("%q %v", line(e), err)
	}
	var in struct {
		Inputs  []map[string]any
		Servers map[string]map[string]any
	}
	e, err = p.Fill(nil)
	if err != nil || json.Unmarshal([]byte(e.JSON()), &in) != nil {
		t.Fatal(err, e.JSON())
	}
	want := map[string]any{"type": "http", "url": "https://eu.weather.example/mcp",
		"headers": map[string]any{"Authorization": "Bearer ${input:" + token.ID + "}"}}
	if diff := cmp.Diff(want, in.Servers["weather"]); diff != "" {
		t.Error(diff)
	}
	if len(in.Inputs) != 1 || in.Inputs[0]["id"] != token.ID || in.Inputs[0]["password"] != true {
		t.Error(in.Inputs)
	}
	tenant := strings.Replace(token.ID, "Authorization.token", "url.tenant", 1)
	if _, err := p.Fill(map[string][]string{tenant: {"mars"}}); err == nil {
		t.Error("a value that is none of the choices was taken")
	}
}

// What a registry says against a version is told, and one that it has deleted cannot be had.
func TestStatus(t *testing.T) {
	for status, usable := range map[Status]bool{Active: true, Deprecated: true, Deleted: false, "odd": true} {
		body := fmt.Sprintf(`{"server": {"name": "a/b", "version": "1"},
			"_meta": {"io.modelcontextprotocol.registry/official": {"status": %q, "statusMessage": "it mines"}}}`, status)
		s, ok := readServer(json.RawMessage(body))
		p := s.proposals("https://r.example",
			json.RawMessage(`{"packages": [{"registryType": "npm", "identifier": "w", "version": "1"}]}`))[0]
		if !ok || p.Usable() != usable {
			t.Errorf("%s: %q", status, p.Unusable)
		}
		if said := p.Unusable + strings.Join(p.Warnings, ""); strings.Contains(said, "it mines") != (status == Deleted ||
			status == Deprecated) {
			t.Errorf("%s: %q", status, said)
		}
	}
}

// Ids of inputs are of one registry and one name: a stranger's entry cannot ask for what was typed for another one.
func TestIDsOfInputs(t *testing.T) {
	ids := map[string]bool{}
	for _, base := range []string{"https://a.example", "https://b.example"} {
		for _, name := range []string{"x/weather", "y/weather"} {
			ids[proposal.ID(proposal.Prefix(name, base), "KEY")] = true
		}
	}
	if len(ids) != 4 {
		t.Error(ids)
	}
	p := of(t, `"registryType": "npm", "identifier": "w", "packageArguments": [`+strings.TrimSuffix(strings.Repeat(
		`{"type": "positional", "valueHint": "a}${input:b"},`, 50), ",")+`]`)
	seen := map[string]bool{}
	for _, in := range p.Inputs {
		if seen[in.ID] || strings.ContainsAny(in.ID, "{}$:") {
			t.Errorf("%q", in.ID)
		}
		seen[in.ID] = true
	}
}

// A text of many variables, and variables with many declarations, cost no more than what a person could look at.
func TestVariablesAreBounded(t *testing.T) {
	many := strings.Repeat("{a}", 100_000)
	started := testing.AllocsPerRun(1, func() {
		p := of(t, `"registryType": "npm", "identifier": "w", "packageArguments": [{"type": "positional", "value": "`+many+
			`", "variables": {"a": {"isRequired": true, "description": "`+strings.Repeat("x", 100_000)+`"}}}]`)
		if !strings.Contains(p.Unusable, "variables") {
			t.Errorf("%.80q", p.Unusable)
		}
	})
	if started > 20_000 {
		t.Errorf("%v objects", started)
	}
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"name": "V%d", "isRequired": true},`, i)
	}
	p := of(t, `"registryType": "npm", "identifier": "w",
		"environmentVariables": [`+strings.TrimSuffix(b.String(), ",")+`]`)
	if !strings.Contains(p.Unusable, "inputs") || len(p.Inputs) > proposal.MaxInputs {
		t.Errorf("%d inputs, %q", len(p.Inputs), p.Unusable)
	}
	p = of(t, `"registryType": "npm", "identifier": "w", "packageArguments": [{"type": "positional", "value": "{a}/{a}",
		"variables": {"a": {"isRequired": true}}}]`)
	if len(p.Inputs) != 1 || p.Unusable != "" {
		t.Errorf("asked %d times for one variable; %q", len(p.Inputs), p.Unusable)
	}
}

// What a publisher adds for the program that runs the package may name another one: a warning says so.
func TestRuntimeArgumentsAreToldOf(t *testing.T) {
	for arguments, want := range map[string]bool{
		`{"type": "named", "name": "--yes"}`:                                false,
		`{"type": "positional", "value": "-y"}`:                             false,
		`{"type": "named", "name": "--package", "value": "evil"}`:           true,
		`{"type": "positional", "value": "evil"}`:                           true,
		`{"type": "named", "name": "-v", "valueHint": "x", "default": "/"}`: true,
	} {
		p := of(t, `"registryType": "npm", "identifier": "w", "runtimeArguments": [`+arguments+`]`)
		told := slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "whole command") })
		if told != want {
			t.Errorf("%s: %q", arguments, p.Warnings)
		}
	}
}
