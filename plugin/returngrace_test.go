package plugin

import (
	"strings"
	"testing"
	"time"
)

// TestReturnGrace: a duration of up to five minutes is taken; any other value is reported and counts as no grace.
func TestReturnGrace(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "0s": 0, "0": 0, "20s": 20 * time.Second, "20000ms": 20 * time.Second, "5m": 5 * time.Minute,
		"5m1s": -1, "-1s": -1, "20": -1, "soon": -1, "1e9h": -1,
	} {
		got, problem := returnGrace(func(string) (string, bool) { return text, true })
		if bad := want < 0; bad != (problem != "") || got != max(want, 0) {
			t.Errorf("%q: %v, %q", text, got, problem)
		}
		if problem != "" && (!strings.Contains(problem, text) || !strings.Contains(problem, "MCPHUB_RETURN_GRACE")) {
			t.Errorf("%q: the problem does not say what and where: %s", text, problem)
		}
	}
	if got, problem := returnGrace(func(string) (string, bool) { return "", false }); got != 0 || problem != "" {
		t.Errorf("not set: %v, %q", got, problem)
	}
}
