package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
)

// The record keeps the latest steps, whole, and says when it does not begin with its hub any more.
func TestFlightIsBounded(t *testing.T) {
	f := &Flight{mark: "h", began: time.Now()}
	shown := []core.Effect{core.ServerShown{Server: 1}, core.ServerShown{Server: 1}}
	begins := func() string { return strings.Join(f.Lines()[1:3], "\n") }
	for n := range 8000 {
		f.note(time.Duration(n), core.InfoChanged{Server: core.ServerNumber(n + 1)}, shown)
		if n == 100 && begins() != "hub h\nInfoChanged Server=1" {
			t.Errorf("it begins with %s", begins())
		}
	}
	kept := len(f.older) + len(f.newer)
	if most := bounds.FlightBytes / notedBytes; kept > most || kept < most/2 {
		t.Errorf("%d are kept, of at most %d", kept, most)
	}
	lines := f.Lines()
	if lines[1] != "hub h partial" || !strings.HasPrefix(lines[3], "InfoChanged") ||
		lines[len(lines)-3] != "InfoChanged Server=8000" {
		t.Errorf("it begins with %q, and ends with %q", lines[:4], lines[len(lines)-3:])
	}
	before, text := *f, len(lines)
	f.note(9000, core.Drained{}, nil)
	if after := len(before.Lines()); after != text {
		t.Errorf("a copy had %d lines, and has %d", text, after)
	}
	f.note(9000, core.Drained{}, make([]core.Effect, bounds.FlightBytes/notedBytes))
	f.note(9001, core.Asked{Among: make([]core.MayAsk, bounds.FlightBytes/50)}, nil)
	f.note(9002, core.Drained{}, nil)
	if got := strings.Join(f.Lines()[1:], "\n"); got != "hub h partial\nat 9.002µs\nDrained" {
		t.Errorf("after steps that are too large there is %s", got)
	}
}
