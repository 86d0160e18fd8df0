package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

func TestPercentile(t *testing.T) {
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	for _, test := range []struct {
		values         []float64
		p, of, hundred float64
	}{
		{p: 50, values: []float64{3}, of: 3, hundred: 50},
		{p: 50, values: []float64{9, 1, 2}, of: 2, hundred: 50},
		{p: 99, values: []float64{9, 1, 2}, of: 9, hundred: 99},
		{p: 0, values: []float64{9, 1, 2}, of: 1, hundred: 1},
	} {
		if a, b := percentile(test.values, test.p), percentile(hundred, test.p); a != test.of || b != test.hundred {
			t.Errorf("percentile %v: %v and %v, want %v and %v", test.p, a, b, test.of, test.hundred)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("no values have a median")
	}
}

// TestRatioIsTakenWithinARound: the ratio is the median of the quotients of each round, not the quotient of the
// medians.
func TestRatioIsTakenWithinARound(t *testing.T) {
	r := rates{"a": {10, 20, 90}, "b": {10, 10, 30}}
	if x := r.against("a", "b"); x != 2 {
		t.Errorf("ratio %v, want 2", x)
	}
	if x := (rates{"a": {100, 500, 250}, "b": {200, 1000, 500}}).more("a", "b"); x != 2 {
		t.Errorf("%v ms more, want 2", x)
	}
}

// TestReport: a floor that is met exactly is reached. A row that is missed, or not measured, or not a number, fails the
// run, and so does an error.
func TestReport(t *testing.T) {
	g := group{name: "some", rows: []row{
		atLeast(0.45, "", "enough"), atLeast(0.45, "", "too little"), atMost(100, "us", "just right"),
		atMost(100, "us", "too much"), atMost(1, "", "no number"), atMost(1, "", "forgotten"),
	}}
	f := figures{}
	f.put("enough", 0.45, "")
	f.put("too little", 0.44, "of %d", 3)
	f.put("just right", 100, "")
	f.put("too much", 101, "")
	f.put("no number", math.NaN(), "")
	var text strings.Builder
	r := report{out: &text}
	r.add(g, f, nil, time.Second)
	r.add(group{name: "broken"}, nil, errors.Join(errors.New("out of"), errors.New("order")), 0)
	if r.finish() != 1 {
		t.Error("the run is a success")
	}
	verdicts := strings.Fields("reached missed reached missed missed measured")
	lines := slices.DeleteFunc(strings.Split(text.String(), "\n"), func(l string) bool { return l == "      of 3" })
	for i, verdict := range verdicts {
		if !strings.HasSuffix(lines[i+1], " "+verdict) {
			t.Errorf("%q, want the verdict %q", lines[i+1], verdict)
		}
	}
	foot := `
2 reached, 5 failures
missed: some: too little: 0.44, not >= 0.45
missed: some: too much: 101 us, not <= 100 us
missed: some: no number: NaN, not <= 1
not measured: some: forgotten
broken: out of; order
`
	if !strings.HasSuffix(text.String(), foot) {
		t.Errorf("the foot is wrong:\n%s", text.String())
	}
	well := report{out: io.Discard}
	well.add(group{name: "some", rows: g.rows[:1]}, f, nil, 0)
	if well.finish() != 0 {
		t.Error("a run whose floors are all kept is no success")
	}
}

// TestMeasuredAgain: a group that misses a floor is measured once more, and the better of the two counts for each row.
func TestMeasuredAgain(t *testing.T) {
	times := 0
	values := map[string][2]float64{"better": {1, 3}, "worse": {3, 1}, "never": {1, 1}}
	g := group{name: "some", rows: []row{atLeast(2, "", "better"), atLeast(2, "", "worse"), atLeast(2, "", "never")},
		measure: func(_ context.Context, _ options, f figures) {
			for what, v := range values {
				f.put(what, v[times], "")
			}
			times++
		}}
	f, err := measure(t.Context(), g, options{})
	if err != nil || times != 2 {
		t.Fatalf("measured %d times: %v", times, err)
	}
	want := figures{"better": {3, "\nmeasured twice; at first it was 1"}, "worse": {3, ""}, "never": {1, ""}}
	if !maps.Equal(f, want) {
		t.Errorf("%v, want %v", f, want)
	}
}

// TestEveryRowHasItsName: no two rows are the same, as the figures go by their names.
func TestEveryRowHasItsName(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.rows {
			if seen[r.what] {
				t.Errorf("two rows are %q", r.what)
			}
			seen[r.what] = true
		}
	}
}

// TestSubjectsAnswer: every subject on stdio that needs no plugin can make calls, and a subject that fails returns an
// error.
func TestSubjectsAnswer(t *testing.T) {
	b, err := build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.remove()
	for name, open := range map[string]opener{byteLoopName: openByteLoop, engineName: openEngine, goSDKName: openGoSDK,
		mcpGoName: openMcpGo, "session": openSession("session", overStdio(b.echo), mcp.EraLegacy,
			mcp.CallRequest{Name: "echo", Arguments: echoArguments})} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t.Context(), options{bin: b})
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			for _, parallel := range []int{1, 8} {
				if calls, rate, err := s.run(t.Context(), 10*time.Millisecond, parallel); err != nil || calls < parallel ||
					rate <= 0 {
					t.Errorf("%d at once: %d, %v, %v", parallel, calls, rate, err)
				}
			}
		})
	}
	failing := subject{name: "failing", call: func(context.Context) error { return errBenchOver }}
	if _, _, err := failing.run(t.Context(), time.Second, 2); err == nil {
		t.Error("a subject that fails has no error")
	}
}
