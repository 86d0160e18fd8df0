package conformance

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// expectedFailures reads the client scenarios that may fail, each with its reason, from expected-failures.yml. The file
// has the format of the suite, so it also works with --expected-failures. Only the needed part of YAML is understood:
// any other line is an error.
func expectedFailures(t testing.TB) map[string]string { return readExpected(t, "client") }

// expectedOfGateway reads the scenarios of the gateway that may fail.
func expectedOfGateway(t testing.TB) map[string]string { return readExpected(t, "server") }

func readExpected(t testing.TB, part string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("expected-failures.yml")
	if err != nil {
		t.Fatal(err)
	}
	expected, err := parseExpected(string(text), part)
	if err != nil {
		t.Fatal(err)
	}
	return expected
}

var (
	expectedEntry = regexp.MustCompile(`^  - (\S+) # (\S.*)$`)
	// excused matches the scenarios that may fail because the hub does not implement what they test. Any other scenario
	// may fail only because of a fault of the suite, and its reason must say so.
	excused = map[string]*regexp.Regexp{
		"client": regexp.MustCompile(`^(auth/dpop|auth/dpop-nonce|auth/wif-jwt-bearer|sep-2640-client-[a-z-]+)$`),
		// The gateway offers no tasks to its clients.
		"server": regexp.MustCompile(`^tasks-[a-z-]+$`),
	}
)

const suiteFault = "fault of the suite: "

// parseExpected parses one part of the file: client or server.
func parseExpected(text, part string) (map[string]string, error) {
	expected := map[string]string{}
	in := ""
	for i, line := range strings.Split(text, "\n") {
		if name, heads := strings.CutSuffix(line, ":"); heads && excused[name] != nil {
			in = name
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") || in != part && in != "" {
			continue
		}
		m := expectedEntry.FindStringSubmatch(line)
		switch {
		case m == nil:
			return nil, fmt.Errorf("line %d: want `  - scenario # reason`, got %q", i+1, line)
		case expected[m[1]] != "":
			return nil, fmt.Errorf("line %d: %s stands here twice", i+1, m[1])
		case !excused[part].MatchString(m[1]) && !strings.HasPrefix(m[2], suiteFault):
			return nil, fmt.Errorf("line %d: %s may not fail, unless it is a %q", i+1, m[1], suiteFault)
		}
		expected[m[1]] = m[2]
	}
	return expected, nil
}

func TestExpectedFailuresAreReasoned(t *testing.T) {
	for name, reason := range expectedFailures(t) {
		t.Logf("%s: %s", name, reason)
	}
	tests := []struct{ name, text, err string }{
		{"good", "# why\nclient:\n  - auth/dpop # not done\n  - sse-retry # fault of the suite: it counts twice\n", ""},
		{"no reason", "client:\n  - auth/dpop\n", "line 2: want"},
		{"twice", "client:\n  - auth/dpop # a\n  - auth/dpop # b\n", "twice"},
		{"not excused", "client:\n  - tools_call # too hard\n", "may not fail"},
		{"other part", "server:\n  - ping # x\n", ""},
		{"no part", "servers:\n  - ping # x\n", "line 1"},
	}
	for _, tt := range tests {
		_, err := parseExpected(tt.text, "client")
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
		}
	}
}
