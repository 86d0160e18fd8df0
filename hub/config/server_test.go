package config

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

func seeds(f *testing.F, files []string) (out [][]byte) {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(data).Files {
			if part.Name != "want" {
				out = append(out, part.Data)
			}
		}
	}
	return out
}

func TestDurations(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{`"90s"`, 90 * time.Second, true},
		{`"5m"`, 5 * time.Minute, true},
		{`"1h30m"`, 90 * time.Minute, true},
		{`"250ms"`, 250 * time.Millisecond, true},
		{`"0"`, 0, true},
		{`"0s"`, 0, true},
		{`0`, 0, true},
		{`-0`, 0, true},
		{`90`, 90 * time.Second, true},
		{`0.25`, 250 * time.Millisecond, true},
		{`1e2`, 100 * time.Second, true},
		{`1e-12`, 1, true}, // not nothing, so not "no limit"
		{`9e9`, 9e18, true},
		{`1e10`, 0, false},
		{`1e999`, 0, false},
		{`-1`, 0, false},
		{`"-1s"`, 0, false},
		{`"90"`, 0, false},
		{`""`, 0, false},
		{`"soon"`, 0, false},
		{`"9999999h"`, 0, false},
		{`true`, 0, false},
		{`{}`, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			servers,
				problems := Load([]Source{{Scope: "host", JSON: []byte(`{"servers": {"s": {"command": "c", "timeouts": {"idle": ` +
				tt.text + `}, "stop": {"stdin": ` + tt.text + `}}}}`)}})
			if !tt.ok {
				if len(servers) != 0 || len(problems) != 2 || problems[0].Key != "timeouts.idle" ||
					problems[1].Key != "stop.stdin" {
					t.Errorf("got %v, %v", servers, problems)
				}
				return
			}
			if len(servers) != 1 || len(problems) != 0 {
				t.Fatalf("got %v, %v", servers, problems)
			}
			if got := servers[0].Timeouts.Idle; got == nil || *got != tt.want {
				t.Errorf("timeout %v, want %v", got, tt.want)
			}
			stop := tt.want
			if stop == 0 {
				stop = -1 // no wait, which is not the default
			}
			if got := servers[0].Grace.Stdin; got != stop {
				t.Errorf("grace %v, want %v", got, stop)
			}
		})
	}
	s, _ := load(t, `{"servers": {"s": {"command": "c"}}}`)
	if s.Timeouts != (Timeouts{}) || s.Grace != (Grace{}) {
		t.Errorf("without any: %+v, %+v", s.Timeouts, s.Grace)
	}
}

// The key does not depend on the order of members, nor on the name and on
// settings that do not change what is run.
func TestLaunchKeyStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	parts := []string{
		`"command": "c"`, `"args": ["a", "b"]`, `"cwd": "/d"`, `"era": "legacy"`, `"maxMessageBytes": 10`,
	}
	env := []string{`"A": "1"`, `"B": null`, `"C": ""`, `"D": 4`, `"E": true`}
	extra := []string{`"disabled": true`, `"alwaysAllow": ["x"]`, `"timeouts": {"idle": 1}`, `"approvals": {"y": "deny"}`,
		`"stop": {"stdin": 1}`, `"type": "stdio"`}
	first := ""
	for i := range 200 {
		rng.Shuffle(len(env), func(i, j int) { env[i], env[j] = env[j], env[i] })
		all := append(append([]string{}, parts...), `"env": {`+strings.Join(env, ",")+`}`)
		for _, x := range extra {
			if rng.IntN(2) == 0 {
				all = append(all, x)
			}
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		s, _ := load(t, fmt.Sprintf(`{"servers": {"name %d": {%s}}}`, i, strings.Join(all, ",")))
		key := s.LaunchKey()
		if first == "" {
			first = key
		}
		if key != first || len(key) != 32 {
			t.Fatalf("%s: %s, first %s", all, key, first)
		}
	}
}

func TestLaunchKeyTellsApart(t *testing.T) {
	seen := map[string]string{}
	for _, entry := range []string{
		`"command": "c"`,
		`"command": "d"`,
		`"command": "c", "args": [""]`,
		`"command": "c", "args": ["a"]`,
		`"command": "c", "args": ["a", "b"]`,
		`"command": "c", "args": ["ab"]`,
		`"command": "c", "args": ["b", "a"]`,
		`"command": "c", "args": ["a", "1", "b"]`,
		`"command": "c", "env": {"a": "b"}`,
		`"command": "c", "env": {"a": ""}`,
		`"command": "c", "env": {"a": null}`,
		`"command": "c", "env": {"a": "unset"}`,
		`"command": "c", "env": {"a": "b", "c": "d"}`,
		`"command": "c", "cwd": "a"`,
		`"command": "c", "era": "modern"`,
		`"command": "c", "era": "legacy"`,
		`"command": "c", "maxMessageBytes": 1`,
		`"url": "https://a.example/"`,
		`"url": "https://a.example/", "type": "streamable-http"`,
		`"url": "https://a.example/", "type": "sse"`,
		`"url": "https://a.example/", "era": "modern"`,
		`"url": "https://b.example/"`,
		`"url": "https://a.example/?a"`,
		`"url": "https://a.example/", "headers": {"A": "b"}`,
		`"url": "https://a.example/", "headers": {"A": ""}`,
		`"url": "https://a.example/", "headers": {"A": "b", "C": "d"}`,
		`"url": "https://a.example/", "headers": {"A": "c", "B": "d"}`,
		`"url": "https://a.example/", "oauth": {"clientId": "x"}`,
		`"url": "https://a.example/", "oauth": {"clientSecret": "x"}`,
		`"url": "https://a.example/", "oauth": {"clientMetadataUrl": "https://x.example/x"}`,
		`"url": "https://a.example/", "oauth": {"scopes": "x y"}`,
		`"url": "https://a.example/", "oauth": {"scopes": "x"}`,
		`"url": "https://a.example/", "oauth": {"redirectPort": 1}`,
		`"url": "https://a.example/", "oauth": {"grant": "enterprise"}`,
		`"url": "https://a.example/", "oauth": {"grant": "client_credentials"}`,
		`"url": "https://a.example/", "oauth": {"privateKeyPem": "x"}`,
		`"url": "https://a.example/", "oauth": {"signingAlgorithm": "x"}`,
		`"url": "https://a.example/", "oauth": {"grant": "workload_identity"}`,
		`"url": "https://a.example/", "oauth": {"workloadToken": "/x"}`,
		`"url": "https://a.example/", "oauth": {"workloadTokenFile": "` + filepath.ToSlash(native("/x")) + `"}`,
		`"url": "https://a.example/", "oauth": {"dpop": "require"}`,
		`"url": "https://a.example/", "oauth": {"dpop": "off"}`,
		`"url": "https://a.example/", "oauth": {"idp": {"issuer": "x"}}`,
		`"url": "https://a.example/", "oauth": {"idp": {"tokenEndpoint": "x"}}`,
		`"url": "https://a.example/", "oauth": {"idp": {"clientId": "x"}}`,
		`"url": "https://a.example/", "oauth": {"idp": {"idToken": "x"}}`,
	} {
		s, _ := load(t, `{"servers": {"s": {`+entry+`}}}`)
		if other, ok := seen[s.LaunchKey()]; ok {
			t.Errorf("%s and %s look the same", entry, other)
		}
		seen[s.LaunchKey()] = entry
	}
	auto, _ := load(t, `{"servers": {"s": {"command": "c", "era": "auto", "args": [], "env": {}, "maxMessageBytes": 0}}}`)
	if seen[auto.LaunchKey()] != `"command": "c"` || (&Server{Command: "c"}).LaunchKey() != auto.LaunchKey() {
		t.Error("defaults written out change the key")
	}
	// A dialect matters where a text may mean something else in it, and nowhere else. What Codex takes from the
	// environment counts.
	keys := map[string]string{}
	for name, s := range map[string]Server{
		"plain":   {Command: "c"},
		"refers":  {Command: "c", Env: map[string]*string{"A": new("${A}")}, Origin: Origin{Dialect: DialectPortable}},
		"other":   {Command: "c", Env: map[string]*string{"A": new("${A}")}, Origin: Origin{Dialect: DialectRoo}},
		"env":     {Command: "c", EnvRefs: map[string]string{"A": "B"}},
		"env too": {Command: "c", EnvRefs: map[string]string{"A": "C"}},
		"bearer":  {Transport: TransportHTTP, URL: "https://a.example/", BearerEnv: "A"},
		"none":    {Transport: TransportHTTP, URL: "https://a.example/"},
	} {
		if other, twice := keys[s.LaunchKey()]; twice {
			t.Errorf("%s and %s look the same", name, other)
		}
		keys[s.LaunchKey()] = name
	}
	if (&Server{Command: "c", Origin: Origin{Dialect: DialectRoo}}).LaunchKey() != (&Server{Command: "c"}).LaunchKey() {
		t.Error("a dialect changes the key of a server without references")
	}
	// What another application keeps in the entry must restart nothing, and neither must another way to write the same.
	bare,
		_ := load(t, `{"servers": {"s": {"url": "https://a.example/", "type": "streamable-http", "headers": {"X-A": "b"}}}}`)
	same,
		_ := load(t,
		`{"servers": {"t": {"url": "https://a.example/", "type": "streamableHttp", "headers": {"x-a": "b"}, "oauth": {"tokens": {}, "grant": "authorization_code", "dpop": "auto"}, "disabled": true}}}`)
	if bare.LaunchKey() != same.LaunchKey() {
		t.Error("what changes nothing of a server with a URL changes the key")
	}
}

// Without a folder a server of a workspace runs beside its file: the same words in another place run something else.
func TestLaunchKeyOfAFileWithoutFolder(t *testing.T) {
	key := func(scope, file string) string {
		servers, _ := Load([]Source{{Path: file, Scope: scope, JSON: []byte(`{"mcpServers":{"s":{"command":"./server"}}}`)}})
		return servers[0].LaunchKey()
	}
	if key("workspace", "/a/.mcp.json") == key("workspace", "/b/.mcp.json") {
		t.Error("two folders, one key")
	}
	if key("user", "/a/mcp.json") != key("user", "/b/mcp.json") {
		t.Error("the user's servers run in one place, and have two keys")
	}
}
