package soak

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

var (
	seedFlag  = flag.Uint64("soak.seed", 1, "the choices of the run; 0 = of the clock, which no other run has")
	callsFlag = flag.Int("soak.calls", 0, "calls in all of the long form; 0 = the short form")
	timeFlag  = flag.Duration("soak.time", 9*time.Minute, "bound of the long form")
	onlyFlag  = flag.String("soak.only", "", "regular expression over the names of the subjects")

	crossingsFlag = flag.Int("soak.crossings", shortCrossings, "calls of each lane through the gateway")
	patienceFlag  = flag.Duration("soak.patience", faketime.Long, "how long to wait for what the gateway owes")
)

const (
	// shortCalls is the number of calls of each subject in the short form.
	shortCalls = 90
	// shortCrossings is the number of calls of each lane through the gateway in the short form.
	shortCrossings = 48
	// leastBatch is the least number of calls in a batch, if there are as many.
	leastBatch = 60
)

// leastTime is the least time limit of a subject, because its server has to start.
const leastTime = 15 * time.Second

// TestCancelsAtRandomMoments runs the short form, or the long form with -soak.calls.
func TestCancelsAtRandomMoments(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-soak.seed %d", seed)
	only := regexp.MustCompile(*onlyFlag)
	weights := 0
	var chosen []int
	for i := range subjects {
		if only.MatchString(subjects[i].String()) {
			weights += subjects[i].weight
			chosen = append(chosen, i)
		}
	}
	slices.SortStableFunc(chosen, func(i, j int) int { return subjects[j].weight - subjects[i].weight })
	start, weightsLeft := time.Now(), weights
	var total figures
	for _, i := range chosen {
		s := &subjects[i]
		t.Run(s.String(), func(t *testing.T) {
			calls, limit := shortCalls, time.Duration(0)
			if *callsFlag > 0 {
				// Time that fast subjects do not use is added to the limits of slower ones.
				calls = (*callsFlag*s.weight + weights - 1) / weights
				limit = max(leastTime, (*timeFlag-time.Since(start))*time.Duration(s.weight)/time.Duration(weightsLeft))
				weightsLeft -= s.weight
			}
			f := soak(t, i, s, calls, limit, seed)
			t.Logf("%s", f)
			f.report(t, s, seed)
			total.add(f)
		})
	}
	if *callsFlag > 0 && *onlyFlag == "" && 2*total.asking < total.calls {
		t.Errorf("%d of %d calls ask: fewer than half", total.asking, total.calls)
	}
	t.Logf("%s", &total)
}

func quoted(args []string) string {
	text := "["
	for i, a := range args {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("%q", a)
	}
	return text + "]"
}
