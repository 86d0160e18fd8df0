package config

import (
	"encoding/json"
	"fmt"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTransportOfAnEntry(t *testing.T) {
	for entry, want := range map[string]string{
		`"command": "c"`:                                            TransportStdio,
		`"command": "c", "type": "stdio"`:                           TransportStdio,
		`"url": "https://a.example/mcp"`:                            TransportAuto,
		`"type": "http", "url": "https://a.example/mcp"`:            TransportHTTP,
		`"type": "streamable-http", "url": "https://a.example/mcp"`: TransportHTTP,
		`"type": "streamableHttp", "url": "https://a.example/mcp"`:  TransportHTTP,
		`"type": "sse", "url": "https://a.example/mcp"`:             TransportSSE,
	} {
		for _, dialect := range []string{"mcpServers", "servers"} {
			want := want
			if dialect == "servers" && strings.Contains(entry, `"http"`) {
				want = TransportAuto // VS Code falls back to SSE
			}
			s, problems := load(t, `{"`+dialect+`": {"s": {`+entry+`}}}`)
			if s.Transport != want || len(problems) != 0 {
				t.Errorf("%s {%s}: transport %q, problems %v; want %q", dialect, entry, s.Transport, problems, want)
			}
		}
	}
}

// A problem is shown to users and logged, so it must not contain anything of a URL, a header or the sign-in data.
func TestProblemsShowNoSecret(t *testing.T) {
	for _, entry := range []string{
		`"url": "https://ada:s3cret@a.example/"`,
		`"url": "https://a.example/?key=s3cret#x"`,
		`"url": "ftp://a.example/?key=s3cret"`,
		`"url": "https://a.example:s3cret/"`,
		`"url": "https://a.example/%zz?s3cret"`,
		`"url": "https://a.example/", "headers": {"A": "s3cret\r\nB: c"}`,
		`"url": "https://a.example/", "headers": {"Mcp-Session-Id": "s3cret"}`,
		`"url": "https://a.example/", "headers": {"A": ["s3cret"]}`,
		`"url": "https://a.example/", "oauth": {"clientSecret": ["s3cret"], "grant": "s3cret", "s3cre": "s3cret", "clientMetadataUrl": "s3cret"}`,
		`"url": "https://a.example/", "oauth": {"scopes": ["s3cret s3cret"], "redirectPort": "s3cret", "privateKeyPem": "s3cret\u0000"}`,
		`"url": "https://a.example/", "oauth": {"workloadToken": ["s3cret"], "workloadTokenFile": "s3cret", "dpop": "s3cret"}`,
	} {
		servers, problems := Load([]Source{{Path: "f", Scope: "host", JSON: []byte(`{"servers": {"s": {` + entry + `}}}`)}})
		if len(servers) != 0 || len(problems) == 0 {
			t.Errorf("{%s} is taken: %+v, %v", entry, servers, problems)
		}
		for _, p := range problems {
			if strings.Contains(fmt.Sprintf("%+v %s", p, p), "s3cret") {
				t.Errorf("{%s}: %s", entry, p)
			}
		}
	}
}

// The names in reserved must be in the canonical form, in which the reader compares them.
func TestReservedHeadersAreCanonical(t *testing.T) {
	for name := range reserved {
		if textproto.CanonicalMIMEHeaderKey(name) != name {
			t.Errorf("%q can never match", name)
		}
	}
}

func TestDisplayURL(t *testing.T) {
	for url, want := range map[string]string{
		"":                                      "",
		"https://a.example":                     "https://a.example",
		"https://a.example:8443/mcp/?k=secret":  "https://a.example:8443/mcp/",
		"https://ada:secret@a.example/mcp":      "https://a.example/mcp",
		"http://[::1]:80/a%2Fb?x#secret":        "http://[::1]:80/a%2Fb",
		"not a url":                             "",
		"https://a.example/\x7f":                "",
		"https://a.example?secret":              "https://a.example",
		"https://a.example/mcp;s=1?x=%73ecret&": "https://a.example/mcp;s=1",
	} {
		if got := (Server{URL: url}).DisplayURL(); got != want {
			t.Errorf("%q is shown as %q, want %q", url, got, want)
		}
	}
}

// A relative workloadTokenFile begins in the folder of the config file; in a text without a file it is refused.
func TestWorkloadTokenFileIsRelativeToTheConfig(t *testing.T) {
	dir := t.TempDir()
	config, other := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "other", "token")
	text := func(path string) []byte {
		quoted, err := json.Marshal(path)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Appendf(nil, `{"servers": {"s": {"url": "https://a.example/", "oauth": {"workloadTokenFile": %s}}}}`,
			quoted)
	}
	if err := os.WriteFile(config, text("../run/token"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		source Source
		want   string // "" = refused
	}{
		"file":                   {Source{Path: config}, filepath.Join(filepath.Dir(dir), "run", "token")},
		"text of a file":         {Source{Path: config, JSON: text("token")}, filepath.Join(dir, "token")},
		"absolute in text":       {Source{JSON: text(other)}, other},
		"relative in text":       {Source{JSON: text("token")}, ""},
		"relative in named text": {Source{Path: "settings", JSON: text("token")}, ""},
	} {
		servers, problems := Load([]Source{tt.source})
		if tt.want == "" {
			if len(servers) != 0 || len(problems) != 1 || !problems[0].Fatal {
				t.Errorf("%s: %+v, %v", name, servers, problems)
			}
			continue
		}
		if len(servers) != 1 || servers[0].OAuth.WorkloadTokenFile != tt.want || len(problems) != 0 {
			t.Errorf("%s: %+v, %v; want %s", name, servers, problems, tt.want)
		}
	}
}
