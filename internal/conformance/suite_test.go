//go:build unix

package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// The revisions with a frozen set of requirements.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// timed is a scenario that measures time to within 50 ms, so it must not run beside other scenarios, nor where the
// machine may be busy.
const timed = "sse-retry"

func untimed(scenarios []string) []string {
	return slices.DeleteFunc(slices.Clone(scenarios), func(name string) bool { return name == timed })
}

// extauth are the grants of the auth extension. No revision requires them, but the hub implements them.
var extauth = []string{"auth/client-credentials-jwt", "auth/client-credentials-basic",
	"auth/enterprise-managed-authorization"}

// TestConformance20251125 runs what the revision 2025-11-25 requires of a client.
func TestConformance20251125(t *testing.T) {
	scored, _ := newest(t).required(t, legacy)
	runAll(t, newest(t), hubDriver, legacy, untimed(scored))
}

// TestConformance20260728 runs what the revision 2026-07-28 requires of a client.
func TestConformance20260728(t *testing.T) {
	scored, _ := newest(t).required(t, modern)
	runAll(t, newest(t), hubDriver, modern, untimed(scored))
}

// TestConformanceTimed_nightly runs what the two tests before leave out.
func TestConformanceTimed_nightly(t *testing.T) {
	ran := false
	for _, revision := range []string{legacy, modern} {
		if scored, _ := newest(t).required(t, revision); slices.Contains(scored, timed) {
			ran = true
			t.Run(revision, func(t *testing.T) { runAll(t, newest(t), hubDriver, revision, []string{timed}) })
		}
	}
	if !ran {
		t.Errorf("no revision requires %s", timed)
	}
}

// TestConformanceCore_nightly runs the core suite of the last stable release: all scenarios of the revision 2025-11-25
// that are neither for an extension nor for a draft nor for old servers alone.
func TestConformanceCore_nightly(t *testing.T) {
	s := first(t)
	var core []string
	for name, revisions := range s.all(t) {
		if slices.Contains(revisions, legacy) {
			core = append(core, name)
		}
	}
	if len(core) != 18 {
		t.Errorf("the core suite has %d scenarios, known are 18", len(core))
	}
	runAll(t, s, hubDriver, "", core)
}

// TestConformanceExtauth_nightly runs client credentials and enterprise-managed authorization, in both eras.
func TestConformanceExtauth_nightly(t *testing.T) {
	for _, revision := range []string{legacy, modern} {
		t.Run(revision, func(t *testing.T) { runAll(t, newest(t), hubDriver, revision, extauth) })
	}
}

// TestConformanceUnscored_nightly runs all other scenarios of the suite: those that the requirement sets run unscored,
// and those in no set. So every scenario that fails has a reason in expected-failures.yml.
func TestConformanceUnscored_nightly(t *testing.T) {
	s := newest(t)
	rest := s.all(t)
	for _, revision := range []string{legacy, modern} {
		scored, unscored := s.required(t, revision)
		t.Run(revision, func(t *testing.T) {
			runAll(t, s, hubDriver, revision, slices.DeleteFunc(slices.Clone(unscored), func(name string) bool {
				return slices.Contains(extauth, name)
			}))
		})
		for _, name := range slices.Concat(scored, unscored) {
			delete(rest, name)
		}
	}
	for name := range expectedFailures(t) {
		if _, known := s.all(t)[name]; !known {
			t.Errorf("expected-failures.yml names %s, which nothing runs", name)
		}
	}
	t.Run("in no set", func(t *testing.T) { runAll(t, s, hubDriver, "", slices.Collect(maps.Keys(rest))) })
}

// runAll runs each scenario as a subtest, several of them in parallel.
func runAll(t *testing.T, s suite, client, revision string, scenarios []string) {
	t.Helper()
	if len(scenarios) == 0 {
		t.Fatal("no scenario to run")
	}
	expected := map[string]string{}
	if s.dated && client == hubDriver {
		expected = expectedFailures(t)
	}
	// Parallel subtests start when the other subtests of their parent have ended. So the timed scenario comes first and
	// runs alone.
	slices.SortFunc(scenarios, func(a, b string) int {
		if (a == timed) != (b == timed) {
			return map[bool]int{true: -1, false: 1}[a == timed]
		}
		return strings.Compare(a, b)
	})
	for _, name := range scenarios {
		t.Run(name, func(t *testing.T) {
			if name != timed {
				t.Parallel()
			}
			err := s.verdict(t, client, name, revision)
			switch reason, known := expected[name]; {
			case known && err == nil:
				t.Errorf("passes, although expected-failures.yml says: %s. Remove its entry", reason)
			case known:
				t.Logf("fails as expected (%s): %v", reason, err)
			case err != nil:
				t.Error(err)
			}
		})
	}
}
