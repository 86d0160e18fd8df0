//go:build unix

package plugin

import "testing"

// TestStateDir: the user's variable comes first, also when it is "", which means no directory; then the system's place,
// in which each host program has a directory of its own, whatever it calls itself.
func TestStateDir(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"told", map[string]string{"MCPHUB_STATE_DIR": "/s", "HOME": "/h"}, "/s"},
		{"told nowhere", map[string]string{"MCPHUB_STATE_DIR": "", "HOME": "/h"}, ""},
		{"XDG", map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/mcphub"},
		{"XDG relative, which does not count", map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"},
			"/h/.local/state/mcphub"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.local/state/mcphub"},
		{"a host program", map[string]string{"HOME": "/h", "MCPHUB_HOST_PROGRAM": "Visual Studio Code"},
			"/h/.local/state/mcphub/hosts/Visual-Studio-Code"},
		{"another one", map[string]string{"XDG_STATE_HOME": "/x", "MCPHUB_HOST_PROGRAM": "neovim"}, "/x/mcphub/hosts/neovim"},
		{"one that leads elsewhere", map[string]string{"HOME": "/h", "MCPHUB_HOST_PROGRAM": "../../x"},
			"/h/.local/state/mcphub/hosts/-..-x"},
		{"one that is only dots", map[string]string{"HOME": "/h", "MCPHUB_HOST_PROGRAM": ".."}, "/h/.local/state/mcphub"},
		{"one that is told where", map[string]string{"MCPHUB_STATE_DIR": "/s", "MCPHUB_HOST_PROGRAM": "neovim"}, "/s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := stateDir("linux", func(name string) (string, bool) { v, ok := test.env[name]; return v, ok })
			if got != test.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}
