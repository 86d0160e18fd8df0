package config

import (
	"strings"
	"testing"
)

// Mistakes at which a start would fail are reported when the file is read, as far as the text shows them. Finding D3.
func TestSlipsThatAStartWouldMeet(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command":"npx -y x"}`: `that whole name; if it holds arguments, write "command": "npx", and move`,
		// JSON reads a backslash before some letters as an escape, and refuses it before others.
		`{"command":"C:\node.exe"}`:                 `a line end, which is what \n is read as; write \\ for each backslash`,
		`{"command":"node","cwd":"C:\temp"}`:        `holds a tab, which is what \t is read as; write \\ for each`,
		`{"command":"node","args":["C:\foo.js"]}`:   `holds a form feed, which is what \f is read as; write \\ for each`,
		`{"command":"node","args":["C:\\a\nb"]}`:    "",
		`{"command":"C:\Program Files\x.exe"}`:      `a backslash begins an escape; write \\ for each backslash`,
		`{"command":"npx"}`:                         "",
		`{"command":"/opt/My Tools/server"}`:        "",
		`{"command":"C:\\Program Files\\node.exe"}`: "",
		`{"command":"${workspaceFolder}/a b"}`:      "",
		`{"url":"https://x.example:99999/"}`:        "has a port that is none",
		`{"url":"https://x.example:0/"}`:            "has a port that is none",
		`{"url":"https://x.example:65535/"}`:        "",
		`{"url":"https://x.example:${PORT}/"}`:      "",
	} {
		_, problems := All([]Source{{Path: "x.json", JSON: []byte(`{"mcpServers":{"s":` + entry + `}}`)}})
		told := ""
		for _, p := range problems {
			told += p.Message + "\n"
		}
		if want == "" && (strings.Contains(told, "whole name") || strings.Contains(told, "port")) ||
			!strings.Contains(told, want) {
			t.Errorf("%s: %q", entry, told)
		}
	}
}
