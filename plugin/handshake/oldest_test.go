package handshake

import "testing"

func TestServes(t *testing.T) {
	for version, want := range map[string]bool{
		"0.1.0": true, "0.1.0-dev": true, "0.1.1": true, "0.2.0-rc.1": true, "1.0.0": true, "0.0.9": false, "0.0.10": false,
		"fake": true, "": true, "0.1": true,
	} {
		if got := Serves(version, "0.1.0"); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
	if Serves("1.9.9", "1.10.0") {
		t.Error("1.9.9 is taken to be newer than 1.10.0")
	}
	if !Serves("0.1.0", OldestHub) {
		t.Error("the first hub does not serve its own host")
	}
}
