package bounds_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// Finding A5: memory that was released in large pieces goes back to the system, soon, and at most once in
// bounds.ReleasePause.
func TestMemoryThatWasLetGoOfGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		r := bounds.NewReleases(func() { n.Add(1) })
		check := func(after time.Duration, want int64) {
			t.Helper()
			faketime.Pass(after)
			synctest.Wait()
			if n.Load() != want {
				t.Errorf("given back %d times, want %d", n.Load(), want)
			}
		}
		r.Note(bounds.ReleasedBytes - 1)
		check(time.Hour, 0)
		r.Note(1)
		check(2*bounds.ReleaseDelay, 1)
		for range 100 {
			r.Note(bounds.ReleasedBytes)
		}
		check(2*bounds.ReleaseDelay, 1)
		check(bounds.ReleasePause, 2)
		check(time.Hour, 2)
		r.Note(bounds.ReleasedBytes)
		r.Close()
		check(time.Hour, 2)
		r.Note(bounds.ReleasedBytes)
		check(time.Hour, 2)
	})
}
