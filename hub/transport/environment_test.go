package transport

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Both lists are tested on every system.
func TestEnvironmentBySystem(t *testing.T) {
	value := func(s string) *string { return &s }
	tests := []struct {
		name, goos string
		parent     []string
		extra      map[string]*string
		want       []string
	}{
		{"nothing", "linux", nil, nil, []string{}},
		{
			"unix is exact about case", "linux",
			[]string{"PATH=/bin", "Path=/x", "HOME=/h", "noequals", "=C:=1", "LC_ALL=C", "LCX=1"}, nil,
			[]string{"HOME=/h", "LC_ALL=C", "PATH=/bin"},
		},
		{
			"the last of a parent's doubles counts", "linux",
			[]string{"HOME=/a", "HOME=/b"}, nil, []string{"HOME=/b"},
		},
		{
			"windows ignores case", "windows",
			[]string{`Path=C:\bin`, `SystemRoot=C:\Windows`, `AppData=C:\a`, "VSCODE_PID=1", "vscode_pid=2", "Plugin_X=1",
				"HOME=/h"},
			map[string]*string{"PATH": value(`D:\bin`), "appdata": nil},
			[]string{`PATH=D:\bin`, `SystemRoot=C:\Windows`},
		},
		{
			"extra wins and may be empty", "darwin",
			[]string{"TMPDIR=/t", "LANG=C"},
			map[string]*string{"LANG": value(""), "ELECTRON_X": value("1"), "TMPDIR": nil, "NUL\x00": value("1")},
			[]string{"ELECTRON_X=1", "LANG="},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, environment(tt.goos, tt.parent, tt.extra)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
