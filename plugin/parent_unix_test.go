//go:build unix

package plugin

import (
	"os"
	"strconv"
	"testing"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// A host that exited before the hub looked at its parent is noticed all the same, if EnvHostPID names its process.
func TestHostThatDiedBeforeTheStart(t *testing.T) {
	const none = 1 << 30 // beyond what any system numbers its processes with
	for _, tc := range []struct {
		name, pid string
		gone      bool
	}{
		{"dead", strconv.Itoa(none), true},
		{"alive", strconv.Itoa(os.Getpid()), false},
		{"not named", "", false},
		{"nonsense", "host", false},
		{"a group", "-1", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(handshake.EnvHostPID, tc.pid)
			if gone := newParent()(); gone != tc.gone {
				t.Errorf("gone %v, want %v", gone, tc.gone)
			}
		})
	}
}
