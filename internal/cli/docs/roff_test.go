package docs

import (
	"testing"
)

func TestRoff(t *testing.T) {
	if got := roff(".x\n'y\n-z \\"); got != "\\&.x\n\\&'y\n\\-z \\e" {
		t.Errorf("roff: %q", got)
	}
}
