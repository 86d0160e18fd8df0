package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// measureCore measures how fast the core alone applies the events of calls that nobody is asked about, beside a
// thousand open ones, on one goroutine. The effects are read and dropped.
func measureCore(_ context.Context, o options, f figures) error {
	const calls = 100_000
	var rates []float64
	effects := 0
	for range o.rounds {
		var kinds event.Kinds
		kinds.Add(event.PromptToolApproval, false)
		s, applied, now := core.New("bench"), 0, time.Now()
		apply := func(e core.Event) core.RequestNumber {
			applied++
			var opened core.RequestNumber
			for _, effect := range s.Apply(now, e) {
				effects++
				if o, ok := effect.(core.RequestOpened); ok {
					opened = o.Request
				}
			}
			return opened
		}
		made := core.RequestMade{Prefix: "call", Server: 1, Call: true, Idle: time.Minute, Total: time.Hour}
		apply(core.WindowShows{Window: "w", Shows: kinds})
		for range 1000 {
			apply(made)
		}
		begun := time.Now()
		applied = 0
		for range calls {
			n := apply(made)
			apply(core.Looked{Request: n, Up: true})
			apply(core.Sent{Request: n, WireID: "7"})
			apply(core.Progressed{Request: n, Shown: true})
			apply(core.CallOver{Request: n})
		}
		rates = append(rates, float64(applied)/time.Since(begun).Seconds())
		if s.Len() != 1000 {
			return fmt.Errorf("%d requests are open, want 1000", s.Len())
		}
	}
	f.put("events that the core alone applies a second", median(rates), "%d effects in %d rounds", effects, o.rounds)
	return nil
}
