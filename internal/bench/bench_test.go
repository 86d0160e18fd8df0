package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestMedianAndPercentile(t *testing.T) {
	tests := []struct {
		values      []float64
		median, p99 float64
	}{
		{[]float64{3}, 3, 3},
		{[]float64{9, 1, 2}, 2, 9},
		{[]float64{4, 1, 3, 2}, 2.5, 4},
	}
	for _, test := range tests {
		if m, p := median(test.values, same), percentile(test.values, 99, same); m != test.median || p != test.p99 {
			t.Errorf("%v: median %v, p99 %v; want %v, %v", test.values, m, p, test.median, test.p99)
		}
	}
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1)*time.Microsecond)
	}
	if p := percentile(hundred, 99, micros); p != 99 {
		t.Errorf("p99 of 1 to 100 is %v", p)
	}
}

// TestRatioIsTakenWithinARound: the ratio is the median of the quotients of each round, not the quotient of the
// medians.
func TestRatioIsTakenWithinARound(t *testing.T) {
	a, b := []float64{10, 20, 90}, []float64{10, 10, 30}
	if r := ratio(3, func(i int) float64 { return a[i] / b[i] }); r != 2 {
		t.Errorf("ratio %v, want 2", r)
	}
}

// TestVerdicts: a bound that is met exactly is reached. A row without a bound gets no verdict, and nor does a group
// that could not be measured.
func TestVerdicts(t *testing.T) {
	r := newReport(options{rounds: 7})
	g := group{name: "some"}
	r.add(g, []row{
		number("enough", 0.45, "", "").atLeast(0.45),
		number("too little", 0.44, "", "").atLeast(0.45),
		number("just right", 100, "us", "").atMost(100),
		number("too much", 101, "us", "").atMost(100),
		number("by the way", 7, "", ""),
	}, nil)
	var text bytes.Buffer
	r.printLast(&text)
	if r.ok() {
		t.Error("a run that has missed targets is a success")
	}
	r.add(group{name: "broken"}, nil, errors.New("out of order"))
	r.printLast(&text)
	r.printFoot(&text)
	want := []string{"reached", "missed", "reached", "missed", ""}
	lines := strings.Split(text.String(), "\n")
	for i, verdict := range want {
		fields := strings.Fields(lines[i+1])
		if last := fields[len(fields)-1]; verdict == "" && (last == "reached" || last == "missed") || verdict != "" &&
			last != verdict {
			t.Errorf("%q, want the verdict %q", lines[i+1], verdict)
		}
	}
	if !strings.Contains(text.String(), "\n  not measured: out of order\n\n2 reached, 2 missed, 1 groups not measured") {
		t.Errorf("the last group and the foot are wrong:\n%s", text.String())
	}
	for _, again := range []string{"\nmissed: some: too little: 0.44, not >= 0.45\n",
		"\nmissed: some: too much: 101 us, not <= 100 us\n", "\nnot measured: broken: out of order\n"} {
		if !strings.Contains(text.String(), again) {
			t.Errorf("the foot lacks %q", again)
		}
	}
}

// TestExitCode: a run is a success if everything was measured and no target was missed.
func TestExitCode(t *testing.T) {
	for name, c := range map[string]struct {
		rows []row
		err  error
		ok   bool
	}{
		"reached":      {[]row{number("a", 1, "", "").atLeast(1), number("b", 1, "", "")}, nil, true},
		"missed":       {[]row{number("a", 1, "", "").atLeast(1), number("b", 1, "", "").atLeast(2)}, nil, false},
		"not a number": {[]row{number("a", math.NaN(), "", "").atMost(1)}, nil, false},
		"not measured": {[]row{number("a", 1, "", "").atLeast(1)}, errTooSlow, false},
	} {
		r := newReport(options{})
		r.add(group{name: "some"}, c.rows, c.err)
		if r.ok() != c.ok {
			t.Errorf("%s: ok is %v", name, r.ok())
		}
	}
}

// TestMeasuredAgain: a group that misses a target is measured once more, and the better of the two counts for each row;
// what must never be there is not measured away.
func TestMeasuredAgain(t *testing.T) {
	times := 0
	values := map[string][2]float64{"better": {1, 3}, "worse": {3, 1}, "never": {1, 1}, "left": {1, 0}}
	g := group{name: "some", limit: time.Minute, measure: func(context.Context, options) (rows []row, err error) {
		for _, what := range []string{"better", "worse", "never"} {
			rows = append(rows, number(what, values[what][times], "", "").atLeast(2))
		}
		rows = append(rows, number("left", values["left"][times], "", "").atMost(0))
		times++
		return rows, nil
	}}
	rows, err := measure(t.Context(), g, options{})
	if err != nil || times != 2 {
		t.Fatalf("measured %d times: %v", times, err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.what, " ", r.value, " ", r.missed(), " ", r.first != nil))
	}
	want := []string{"better 3 false true", "worse 3 false false", "never 1 true false", "left 1 true false"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStuck: a measurement that does not end with its time is given up.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		start := time.Now()
		_, err := measureOnce(t.Context(), group{name: "some", limit: time.Minute,
			measure: func(context.Context, options) ([]row, error) { <-release; return nil, nil }}, options{})
		if took := time.Since(start); !errors.Is(err, errStuck) || took != time.Minute+grace {
			t.Errorf("given up after %v: %v", took, err)
		}
		close(release)
	})
}

// TestProgressRate: one event each 50 ms is a rate of 20 a second. The first event, and the one that comes early when
// the request ends, are not counted.
func TestProgressRate(t *testing.T) {
	var p progressCount
	start := time.Unix(0, 0)
	for i := range 101 {
		p.add(start.Add(time.Duration(i) * 50 * time.Millisecond))
	}
	p.add(start.Add(5010 * time.Millisecond)) // early: it was flushed when the request ended
	if r := p.rate(); r != 20 {
		t.Errorf("%v a second, want 20", r)
	}
	p.add(start.Add(5020 * time.Millisecond))
	p.add(start.Add(5030 * time.Millisecond))
	if r := p.rate(); r <= 20 {
		t.Errorf("%v a second with two events too many", r)
	}
}

// TestSubjectsAnswer: every subject that needs no plugin can make calls, and a subject that fails returns an error.
func TestSubjectsAnswer(t *testing.T) {
	b, err := build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.remove()
	o := options{bin: b}
	for name, open := range map[string]func() (subject, error){
		floorName:   func() (subject, error) { return openByteLoop(o, floorName) },
		batchedName: func() (subject, error) { return openByteLoop(o, batchedName) },
		engineName:  func() (subject, error) { return openEngine(o) },
		sessionName: func() (subject, error) { return openSession(t.Context(), o) },
		goSDKName:   func() (subject, error) { return openGoSDK(t.Context(), o) },
		mcpGoName:   func() (subject, error) { return openMcpGo(t.Context(), o) },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			for _, parallel := range []int{1, 8} {
				if x, err := s.run(t.Context(), 10*time.Millisecond, parallel); err != nil || x.calls < parallel || x.rate <= 0 {
					t.Errorf("%d at once: %+v, %v", parallel, x, err)
				}
			}
		})
	}
	failing := subject{name: "failing", call: func(context.Context) error { return errBenchOver }}
	if _, err := failing.run(t.Context(), time.Second, 2); err == nil {
		t.Error("a subject that fails has no error")
	}
}
