package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func candidatePaths(p Places) []string {
	var out []string
	for _, s := range Candidates(p) {
		out = append(out, strings.TrimSpace(s.Scope+" "+s.Dialect+" "+s.Path+" "+s.Folder))
	}
	return out
}

func TestKnownPlaces(t *testing.T) {
	for _, tt := range []struct {
		name   string
		places Places
		want   []string // some of what must come, in this order
		not    string   // what must not be in any
	}{
		{
			"linux", Places{Home: "/home/0", Folders: []string{"/w/a"}, GOOS: "linux"},
			[]string{
				"user claude-desktop /home/0/.config/Claude/claude_desktop_config.json",
				"user crush /home/0/.config/crush/crush.json",
				"user opencode /home/0/.config/opencode/opencode.json",
				"user opencode /home/0/.config/opencode/opencode.jsonc",
				"user codex /home/0/.codex/config.toml",
				"user gemini /home/0/.gemini/settings.json",
				"user cursor /home/0/.codeium/windsurf/mcp_config.json",
				"user cursor /home/0/.cursor/mcp.json",
				"user cline /home/0/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
				"user roo /home/0/.config/Code - Insiders/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
				"user roo /home/0/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
				"user portable /home/0/.claude.json /w/a",
				"user portable /home/0/.copilot/mcp-config.json",
				"user vscode /home/0/.config/VSCodium/User/mcp.json",
				"user vscode /home/0/.config/Code - Insiders/User/mcp.json",
				"user vscode /home/0/.config/Code/User/mcp.json",
				"workspace crush /w/a/crush.json /w/a",
				"workspace crush /w/a/.crush.json /w/a",
				"workspace opencode /w/a/opencode.json /w/a",
				"workspace codex /w/a/.codex/config.toml /w/a",
				"workspace gemini /w/a/.gemini/settings.json /w/a",
				"workspace cursor /w/a/.cursor/mcp.json /w/a",
				"workspace roo /w/a/.kilocode/mcp.json /w/a",
				"workspace roo /w/a/.roo/mcp.json /w/a",
				"workspace portable /w/a/.mcp.json /w/a",
				"workspace vscode /w/a/.vscode/mcp.json /w/a",
			}, `\`,
		},
		{
			"variables", Places{Home: "/home/0", GOOS: "linux", Environ: []string{
				"XDG_CONFIG_HOME=/x", "CODEX_HOME=/codex", "COPILOT_HOME=/copilot/", "GEMINI_CLI_HOME=/g",
				"CLAUDE_CONFIG_DIR=/claude", "OPENCODE_CONFIG=/o/my.json",
			}},
			[]string{
				"user claude-desktop /x/Claude/claude_desktop_config.json",
				"user crush /x/crush/crush.json",
				"user opencode /x/opencode/opencode.json",
				"user opencode /o/my.json",
				"user codex /codex/config.toml",
				"user gemini /g/.gemini/settings.json",
				"user portable /claude/.claude.json",
				"user portable /copilot/mcp-config.json",
				"user portable /home/0/.copilot/mcp-config.json",
				"user vscode /x/Code/User/mcp.json",
			}, ".codex",
		},
		{
			"relative variables are none", Places{Home: "/home/0", GOOS: "linux", Environ: []string{"XDG_CONFIG_HOME=x",
				"CODEX_HOME=", "OPENCODE_CONFIG=o.json"}},
			[]string{"user crush /home/0/.config/crush/crush.json", "user codex /home/0/.codex/config.toml"}, " o.json",
		},
		{
			"darwin", Places{Home: "/Users/0", Folders: []string{"/w/a"}, GOOS: "darwin"},
			[]string{
				"user claude-desktop /Users/0/Library/Application Support/Claude/claude_desktop_config.json",
				"user crush /Users/0/.config/crush/crush.json",
				"user codex /Users/0/.codex/config.toml",
				"user cline /Users/0/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
				"user vscode /Users/0/Library/Application Support/Code/User/mcp.json",
				"workspace vscode /w/a/.vscode/mcp.json /w/a",
			}, `\`,
		},
		{
			"windows", Places{Home: `C:\Users\u`, Folders: []string{`D:\w`},
				GOOS: "windows", Environ: []string{`AppData=E:\Roaming`, `CODEX_HOME=\\host\codex`}},
			[]string{
				`user claude-desktop E:\Roaming\Claude\claude_desktop_config.json`,
				`user crush C:\Users\u\AppData\Local\crush\crush.json`,
				`user opencode C:\Users\u\.config\opencode\opencode.json`,
				`user codex \\host\codex\config.toml`,
				`user roo E:\Roaming\Code\User\globalStorage\kilocode.kilo-code\settings\mcp_settings.json`,
				`user roo E:\Roaming\Code\User\globalStorage\rooveterinaryinc.roo-cline\settings\mcp_settings.json`,
				`user vscode E:\Roaming\Code\User\mcp.json`,
				`workspace vscode D:\w\.vscode\mcp.json D:\w`,
			}, "/",
		},
		{"no home", Places{Folders: []string{"/w"}, GOOS: "linux"}, []string{"workspace vscode /w/.vscode/mcp.json /w"},
			"user"},
		{"home is a folder", Places{Home: "/h", Folders: []string{"/h"}, GOOS: "linux"},
			[]string{"user cursor /h/.cursor/mcp.json", "workspace portable /h/.mcp.json /h"}, "workspace cursor"},
		{
			"several folders", Places{Home: "/h", Folders: []string{"/a", "/b"}, GOOS: "linux"},
			[]string{"user portable /h/.claude.json /a", "user portable /h/.claude.json /b",
				"workspace vscode /a/.vscode/mcp.json /a", "workspace vscode /b/.vscode/mcp.json /b"}, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := candidatePaths(tt.places)
			last := -1
			for _, want := range tt.want {
				i := slices.Index(got, want)
				if i <= last {
					t.Errorf("%s at %d, after %d", want, i, last)
				}
				last = max(last, i)
			}
			seen := map[string]bool{}
			for _, line := range got {
				if tt.not != "" && strings.Contains(line, tt.not) {
					t.Errorf("%q is in %s", tt.not, line)
				}
				if seen[line] {
					t.Errorf("twice: %s", line)
				}
				seen[line] = true
			}
		})
	}
}

func TestKnownAreThoseThatExist(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	putFile(t, filepath.Join(home, ".cursor", "mcp.json"), "{}")
	putFile(t, filepath.Join(folder, ".mcp.json"), "{}")
	if err := os.MkdirAll(filepath.Join(folder, ".vscode", "mcp.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := Known(Places{Home: home, Folders: []string{folder}, GOOS: "linux"})
	for i := range got { // those of Linux are spelled with slashes, wherever the test runs
		got[i].Path = filepath.FromSlash(got[i].Path)
	}
	want := []Source{
		{Path: filepath.Join(home, ".cursor", "mcp.json"), Dialect: DialectCursor, Scope: "user"},
		{Path: filepath.Join(folder, ".mcp.json"), Dialect: DialectPortable, Scope: "workspace", Folder: folder},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	none := func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist }
	if got := Known(Places{Home: home, Folders: []string{folder}, GOOS: "linux", Stat: none}); got != nil {
		t.Errorf("got %v", got)
	}
}
