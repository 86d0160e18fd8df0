package config

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// one returns the only entry of a file, and fails the test if it is not usable.
func one(t *testing.T, dialect, entry string) (Server, []Problem) {
	t.Helper()
	servers, problems := Load([]Source{inFile(dialect, `"s": `+entry)})
	if len(servers) != 1 {
		t.Fatalf("%s %s: %d servers: %v", dialect, entry, len(servers), problems)
	}
	return servers[0], problems
}

func TestTimeoutUnitFollowsTheDialect(t *testing.T) {
	tests := []struct {
		dialect, key, value string
		connect, total      time.Duration // 0: not set
		told                string        // a part of the problem; "": none
		refused             bool
	}{
		{DialectRoo, "timeout", "90", 0, 90 * time.Second, "", false},
		{DialectRoo, "timeout", "1", 0, time.Second, "", false},
		{DialectRoo, "timeout", "3600", 0, time.Hour, "", false},
		{DialectRoo, "timeout", "0.5", 0, time.Second, "from 1 to 3600", false},
		{DialectRoo, "timeout", "3601", 0, time.Hour, "almost surely one of milliseconds", false},
		{DialectRoo, "timeout", "1e999", 0, time.Hour, "almost surely one of milliseconds", false},
		{DialectCline, "timeout", "90", 0, 90 * time.Second, "", false},
		{DialectCline, "timeout", "60000", 0, time.Hour, "almost surely one of milliseconds", false},
		{DialectCline, "timeout", "-5", 0, time.Second, "1 is used", false},
		{DialectCline, "timeout", `"90"`, 0, 0, "is ignored", false},
		{DialectPortable, "timeout", "90000", 0, 90 * time.Second, "", false},
		{DialectPortable, "timeout", "90", 0, 90 * time.Millisecond, "counts in milliseconds", false},
		{DialectPortable, "timeout", "1e-300", 0, 1, "counts in milliseconds", false},
		{DialectPortable, "timeout", "0", 0, 0, "above 0", true},
		{DialectPortable, "timeout", "1e300", 0, 0, "above 0", true},
		{DialectGemini, "timeout", "90000", 0, 90 * time.Second, "", false},
		{DialectGemini, "timeout", "600000", 0, 10 * time.Minute, "", false},
		{DialectCodex, "startup_timeout_sec", "2.5", 2500 * time.Millisecond, 0, "", false},
		{DialectCodex, "startup_timeout_ms", "2500", 2500 * time.Millisecond, 0, "", false},
		{DialectCodex, "tool_timeout_sec", "90", 0, 90 * time.Second, "", false},
		{DialectCodex, "tool_timeout_sec", "90000", 0, 25 * time.Hour, "almost surely one of milliseconds", false},
		{DialectCodex, "timeout", "90", 0, 0, `did you mean "tool_timeout_sec"`, false},
		{DialectPortable, "cmd", `"npx"`, 0, 0, `did you mean "command"`, false},
		{DialectOpencode, "timeout", "90000", 90 * time.Second, 0, "", false},
		{DialectOpencode, "timeout", `{"startup": 1000, "request": 2000}`, time.Second, 2 * time.Second, "", false},
		{DialectCrush, "timeout", "90", 90 * time.Second, 0, "", false},
		{DialectVSCode, "timeout", "90", 0, 0, "depends on the application", false},
		{DialectCursor, "timeout", "90", 0, 0, "depends on the application", false},
		{DialectDesktop, "timeout", "90", 0, 0, "depends on the application", false},
		{DialectMcpServers, "timeout", "90", 0, 0, "depends on the application", false},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.dialect] = true
		_, entry, _ := strings.Cut(goodEntry(tt.dialect, "s"), ": ")
		entry = strings.TrimSuffix(entry, "}") + fmt.Sprintf(", %q: %s}", tt.key, tt.value)
		t.Run(tt.dialect+" "+tt.key+" "+tt.value, func(t *testing.T) {
			servers, problems := Load([]Source{inFile(tt.dialect, `"s": `+entry)})
			if told := fmt.Sprint(problems); len(problems) > 1 || (tt.told == "") != (len(problems) == 0) ||
				!strings.Contains(told, tt.told) {
				t.Errorf("told: %v", problems)
			}
			if tt.refused || len(servers) != 1 {
				if tt.refused != (len(servers) == 0) {
					t.Errorf("servers: %v", servers)
				}
				return
			}
			value := func(d *time.Duration) time.Duration {
				if d == nil {
					return 0
				}
				return *d
			}
			got := servers[0].Timeouts
			if value(got.Connect) != tt.connect || value(got.Total) != tt.total || got.Idle != nil || got.Human != nil {
				t.Errorf("connect %v, total %v", value(got.Connect), value(got.Total))
			}
			if _, marked := servers[0].Fields["timeouts.total"]; marked != (tt.total != 0) {
				t.Errorf("fields %v", servers[0].Fields)
			}
		})
	}
	for name := range dialects {
		if !seen[name] {
			t.Errorf("no timeout of %s", name)
		}
	}
}

func TestDefaultTypeFollowsTheDialect(t *testing.T) {
	for dialect, want := range map[string]string{
		DialectVSCode: TransportAuto, DialectPortable: TransportAuto, DialectRoo: TransportAuto, DialectCline: TransportSSE,
		DialectCursor: TransportAuto,
		DialectGemini: TransportAuto, DialectCodex: TransportHTTP, DialectOpencode: TransportAuto,
		DialectCrush: TransportAuto, DialectMcpServers: TransportAuto,
	} {
		s, problems := one(t, dialect, `{"url": "https://example.com/mcp"}`)
		if s.Transport != want {
			t.Errorf("%s: %q, want %q", dialect, s.Transport, want)
		}
		insists := dialect == DialectRoo || dialect == DialectCrush
		if insists != (len(problems) == 1) {
			t.Errorf("%s: told %v", dialect, problems)
		}
		_, entry, _ := strings.Cut(goodEntry(dialect, "s"), ": ")
		if s, _ := one(t, dialect, entry); s.Transport != TransportStdio {
			t.Errorf("%s: a command is %q", dialect, s.Transport)
		}
	}
	for dialect, types := range map[string]map[string]string{
		DialectVSCode:   {"http": TransportAuto, "sse": TransportSSE},
		DialectPortable: {"http": TransportHTTP, "sse": TransportSSE},
		DialectRoo:      {"streamable-http": TransportHTTP, "sse": TransportSSE},
		DialectCline:    {"streamableHttp": TransportHTTP, "sse": TransportSSE},
		DialectGemini:   {"http": TransportHTTP, "sse": TransportSSE},
		DialectOpencode: {"remote": TransportAuto},
		DialectCrush:    {"http": TransportHTTP, "sse": TransportSSE},
	} {
		for word, want := range types {
			if s, problems := one(t, dialect, fmt.Sprintf(`{"type": %q, "url": "https://example.com/mcp"}`,
				word)); s.Transport != want || len(problems) != 0 {
				t.Errorf("%s %s: %q, want %q; %v", dialect, word, s.Transport, want, problems)
			}
		}
	}
}

func TestApprovalsAndToolsOfTheDialects(t *testing.T) {
	all := map[string]Policy{"*": Allow}
	for _, tt := range []struct {
		dialect, more string
		approvals     map[string]Policy
		tools         ToolFilter
	}{
		{DialectRoo, `"alwaysAllow": ["a", "*"], "disabledTools": ["b"]`, map[string]Policy{"a": Allow, "*": Allow},
			ToolFilter{Hidden: []string{"b"}}},
		{DialectCline, `"autoApprove": ["a"]`, map[string]Policy{"a": Allow}, ToolFilter{}},
		{DialectPortable, `"tools": []`, nil, ToolFilter{Only: []string{}}},
		{DialectPortable, `"tools": ["*"]`, nil, ToolFilter{Only: []string{"*"}}},
		{DialectGemini, `"trust": true, "includeTools": ["a"], "excludeTools": ["b"]`, all,
			ToolFilter{Only: []string{"a"}, Hidden: []string{"b"}}},
		{DialectGemini, `"trust": false`, nil, ToolFilter{}},
		{DialectCodex,
			`"default_tools_approval_mode": "approve", "tools": {"a": {"approval_mode": "prompt"}, "b": {"approval_mode": "auto"}, "c": {"approval_mode": "writes"}}`,
			map[string]Policy{"*": Allow, "a": Ask, "b": Ask, "c": Ask}, ToolFilter{}},
		{DialectCodex, `"enabled_tools": [], "disabled_tools": ["b"]`, nil,
			ToolFilter{Only: []string{}, Hidden: []string{"b"}}},
		{DialectCrush, `"enabled_tools": ["a"], "disabled_tools": ["b"]`, nil,
			ToolFilter{Only: []string{"a"}, Hidden: []string{"b"}}},
		{DialectCrush, `"enabled_tools": []`, nil, ToolFilter{}},
		{DialectCursor, `"alwaysAllow": ["a"], "disabledTools": ["b"]`, map[string]Policy{"a": Allow},
			ToolFilter{Hidden: []string{"b"}}},
		{DialectMcpServers, `"alwaysAllow": ["a"], "autoApprove": ["b"], "tools": ["c"], "disabledTools": ["d"]`,
			map[string]Policy{"a": Allow, "b": Allow}, ToolFilter{Only: []string{"c"}, Hidden: []string{"d"}}},
	} {
		_, entry, _ := strings.Cut(goodEntry(tt.dialect, "s"), ": ")
		s, problems := one(t, tt.dialect, strings.TrimSuffix(entry, "}")+", "+tt.more+"}")
		if diff := cmp.Diff(tt.approvals, s.Approvals) + cmp.Diff(tt.tools, s.Tools); diff != "" || len(problems) != 0 {
			t.Errorf("%s {%s}: %v\n%s", tt.dialect, tt.more, problems, diff)
		}
	}
}

// The hub's own keys are read in every dialect, before or after those of the dialect, and win.
func TestHubKeysWinInEveryDialect(t *testing.T) {
	theirs := map[string]string{
		DialectRoo:      `"timeout": 5, "alwaysAllow": ["x", "y"]`,
		DialectCline:    `"timeout": 5, "autoApprove": ["x", "y"]`,
		DialectPortable: `"timeout": 5000`,
		DialectGemini:   `"timeout": 5000, "trust": true`,
		DialectCodex:    `"tool_timeout_sec": 5, "startup_timeout_sec": 6, "required": true, "tools": {"x": {"approval_mode": "approve"}}`,
		DialectOpencode: `"timeout": {"startup": 6000, "request": 5000}`,
		DialectCrush:    `"timeout": 6`,
	}
	const ours = `"approvals": {"x": "deny"}, "timeouts": {"total": "9m", "connect": "8s"}, "start": "lazy", "idleStop": "7m",
		"era": "legacy", "stop": {"kill": "3s"}, "maxMessageBytes": 10, "disabled": true`
	for name := range dialects {
		_, entry, _ := strings.Cut(goodEntry(name, "s"), ": ")
		head := strings.TrimSuffix(entry, "}")
		more := theirs[name]
		if more == "" {
			more = `"version": null`
		}
		for _, text := range []string{head + ", " + more + ", " + ours + "}", head + ", " + ours + ", " + more + "}"} {
			s, problems := one(t, name, text)
			if len(problems) != 0 {
				t.Errorf("%s: %v", name, problems)
			}
			if s.Approvals["x"] != Deny || *s.Timeouts.Total != 9*time.Minute || *s.Timeouts.Connect != 8*time.Second ||
				s.Start != StartLazy ||
				*s.IdleStop != 7*time.Minute || s.Era != "legacy" || s.Grace.Kill != 3*time.Second ||
				s.MaxMessageBytes != 10 || !s.Disabled {
				t.Errorf("%s: %+v", name, s)
			}
			for field, key := range map[string]string{"approvals.x": "approvals.x", "timeouts.total": "timeouts.total",
				"start": "start"} {
				if got := s.Fields[field].Key; got != key {
					t.Errorf("%s: %s is said to come from %q", name, field, got)
				}
			}
		}
	}
}

// A config file is data: nothing in it is run when it is read, and text that an application would run is refused or
// left as it is.
func TestNoDialectRunsACommand(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	for name := range dialects {
		for _, text := range []string{"$(touch " + marker + ")", "`touch " + marker + "`", "${cmd: touch " + marker +
			"}", "${command:touch " + marker + "}", "!touch " + marker} {
			_, entry, _ := strings.Cut(goodEntry(name, "s"), ": ")
			env := map[string]string{DialectOpencode: "environment"}[name]
			if env == "" {
				env = "env"
			}
			servers, problems := Load([]Source{inFile(name, `"s": `+strings.TrimSuffix(entry, "}")+
				fmt.Sprintf(`, %q: {"A": %q}}`, env, text))})
			refused := name == DialectCrush && (strings.HasPrefix(text, "$(") || strings.HasPrefix(text, "`"))
			if refused != (len(servers) == 0) {
				t.Errorf("%s %s: %d servers, %v", name, text, len(servers), problems)
			}
			if refused && (len(problems) != 1 || !strings.Contains(problems[0].Message, "runs no commands")) {
				t.Errorf("%s %s: %v", name, text, problems)
			}
			if len(servers) == 1 && *servers[0].Env["A"] != text {
				t.Errorf("%s %s became %q", name, text, *servers[0].Env["A"])
			}
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a command was run")
	}
	// Nor could it be: the package imports nothing that runs commands.
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			if name, _ := strconv.Unquote(i.Path.Value); !strings.HasSuffix(file, "_test.go") &&
				(name == "os/exec" || name == "syscall" || strings.HasPrefix(name, "golang.org/x/sys")) {
				t.Errorf("%s imports %s", file, name)
			}
		}
	}
}

// No problem of any reader shows the value of what may be secret.
func TestProblemsOfAllDialectsShowNoSecret(t *testing.T) {
	for name, d := range dialects {
		for _, key := range slices.Sorted(maps.Keys(d.keys.with(own))) {
			if key == "type" || key == "transportType" || key == "transport" || key == "approvals" {
				continue // words of a fixed set, which are shown
			}
			for _, value := range []string{
				`"s3cret\u0000$(x) ${command:s3cret}"`, `["s3cret", 1, {"name": 5}, "s3cret\u0000"]`,
				`{"a": "s3cret", "b": ["s3cret"], "": "s3cret\n"}`,
				`5e99`,
				`{"clientId": ["s3cret"], "clientSecret": {"x": "s3cret"}, "watch": [{"s": "s3cret"}], "x": {"approval_mode": "s3cret"}}`,
			} {
				for _, entry := range []string{
					fmt.Sprintf(`{%q: %s}`, key, value), fmt.Sprintf(`{"command": "c", %q: %s}`, key, value),
					fmt.Sprintf(`{"url": "https://a.example/?s3cret", %q: %s}`, key, value),
				} {
					_, problems := Load([]Source{inFile(name, `"s": `+entry)})
					for _, p := range problems {
						if strings.Contains(fmt.Sprintf("%+v %s", p, p), "s3cret") {
							t.Errorf("%s %s: %s", name, entry, p)
						}
					}
				}
			}
		}
	}
}

// For an unknown key the nearest known key is suggested.
func TestDidYouMean(t *testing.T) {
	for key, want := range map[string]string{
		"comand": "command", "COMMAND": "command", "arg": "args", "evn": "env", "headres": "headers",
		"disabled_tools": "disabledTools",
		"alwaysAlow":     "alwaysAllow", "watch_paths": "watchPaths", "timout": "timeout", "colour": "", "x": "", "": "",
		"autoApprove": "alwaysAllow",
		"aproval":     "approvals", strings.Repeat("x", 70): "",
	} {
		s, problems := one(t, DialectRoo, fmt.Sprintf(`{"command": "c", %q: 1}`, key))
		meant := ""
		if len(problems) == 1 {
			if _, rest, found := strings.Cut(problems[0].Message, "did you mean "); found {
				meant, _ = strconv.Unquote(strings.TrimSuffix(rest, "?"))
			}
		}
		if len(problems) != 1 || problems[0].Fatal || meant != want || s.Command != "c" {
			t.Errorf("%q: %v, want %q", key, problems, want)
		}
	}
}

// Each key in the tables of a dialect has a function that reads it, and each suggestion is a known key.
func TestEveryKeyIsRead(t *testing.T) {
	for name, d := range dialects {
		if d.name != name || d.title == "" {
			t.Errorf("%s is called %q, %q", name, d.name, d.title)
		}
		for _, key := range slices.Sorted(maps.Keys(d.keys)) {
			if d.keys[key].read == nil {
				t.Errorf("%s: %q is read by nothing", name, key)
			}
			if _, twice := own[key]; twice {
				t.Errorf("%s: %q is the hub's own", name, key)
			}
		}
		for word, meant := range d.words {
			_, theirs := d.keys[meant]
			_, ours := own[meant]
			if _, known := d.keys[word]; known || !theirs && !ours {
				t.Errorf("%s: %q for %q", name, meant, word)
			}
		}
	}
}
