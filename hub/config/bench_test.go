package config

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// twoHundred returns a file with 200 servers. The separator stands before each key.
func twoHundred(separator string) []byte {
	var b strings.Builder
	b.WriteString(`{"mcpServers": {` + separator)
	for i := range 200 {
		if i > 0 {
			b.WriteString("," + separator)
		}
		fmt.Fprintf(&b,
			`"server %d": {%s"command": "npx",%s"args": ["-y", "@example/server-%d", "--level=ä"],%s"env": {"TOKEN": "${env:TOKEN_%d}", "A": "b"},%s`,
			i, separator, separator, i, separator, i, separator)
		fmt.Fprintf(&b,
			`"alwaysAllow": ["read_file", "list_directory", "search_%d"],%s"disabledTools": ["rm"],%s"timeout": 60, "disabled": %v}`, i, separator, separator, i%3 == 0)
	}
	b.WriteString("}}")
	return []byte(b.String())
}

// BenchmarkLoad200 is what a reload of 200 servers costs this package: reading, and the keys by which they are
// compared.
func BenchmarkLoad200(b *testing.B) {
	for name, separator := range map[string]string{"lines": "\n    ", "one line": ""} {
		b.Run(name, func(b *testing.B) {
			sources := []Source{{Path: "mcp_settings.json", JSON: twoHundred(separator)}}
			b.SetBytes(int64(len(sources[0].JSON)))
			b.ReportAllocs()
			for b.Loop() {
				servers, problems := Load(sources)
				if len(servers) != 200 || len(problems) != 0 {
					b.Fatalf("%d servers, %v", len(servers), problems)
				}
				for _, s := range servers {
					s.LaunchKey()
				}
			}
		})
	}
}

// The line and column of an offset are exact wherever it is, also within a character, before the offset that was asked
// for last, and in a file of one line.
func TestPlacesOfALongLine(t *testing.T) {
	text := strings.Repeat("aé✓😀", 5000) + "\n" + strings.Repeat("ä", 1000) + "\xff\xfe\n"
	d := newDocument("f", []byte(text))
	line, column := 1, 1
	for at, c := range text {
		if l, col := d.position(at); l != line || col != column {
			t.Fatalf("offset %d is at %d:%d, want %d:%d", at, l, col, line, column)
		}
		for within := at + 1; within < at+utf8.RuneLen(c) && c != utf8.RuneError; within++ {
			if l, col := d.position(within); l != line || col != column {
				t.Fatalf("offset %d, within a character, is at %d:%d, want %d:%d", within, l, col, line, column)
			}
		}
		if column++; c == '\n' {
			line, column = line+1, 1
		}
	}
	if l, c := d.position(len(text)); l != line || c != column {
		t.Errorf("the end is at %d:%d", l, c)
	}
	if l, c := d.position(10); l != 1 || c != 5 {
		t.Errorf("back at %d:%d", l, c)
	}
}
