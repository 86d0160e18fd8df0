package signin

import (
	"errors"
	"testing"
)

// Without a session bus the system's keyring is not touched: the library would start a bus of its own. Other
// systems' keyrings need no bus, and a test must not write to them.
func TestOpenStoreWithoutBus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if errors.Is(sessionBus(), errNoSessionBus) { // else a bus listens at the usual place in the file system
		s := OpenStore(t.TempDir(), nil).(*keyringStore)
		if s.gone == nil {
			t.Error("the keyring would be used")
		}
		save(t, s, someEntry("one"))
		if got := loadToken(t, OpenStore(s.fallback.(*fileStore).dir+"/..", nil)); got != "access-token" {
			t.Errorf("found %q", got)
		}
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	if err := sessionBus(); err != nil {
		t.Error(err)
	}
	// The real library, with a bus that is not there: an error or nothing, not a hang.
	s := OpenStore(t.TempDir(), nil)
	save(t, s, someEntry("one"))
	if err := s.Delete(t.Context(), one); err != nil {
		t.Error(err)
	}
}
