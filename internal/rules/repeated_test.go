package rules

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// repeatedPage lists the tests that .ci/once-more and the runner of the scenarios may run a second time. Each was seen
// to fail by the machine alone. The list only shrinks: lower mostRepeated with it.
const (
	repeatedPage = "docs/contributing/repeated.md"
	mostRepeated = 0
)

// promise matches what may never be repeated: a second try would hide a cancel or an approval that fails now and then.
var promise = regexp.MustCompile(`(?i)cancel|withdr|stop|approv|consent|allow|deny|denies`)

func wrongRepeats(t *tree) []violation {
	var bad []violation
	count := 0
	for i, line := range strings.Split(string(t.text[repeatedPage]), "\n") {
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		if count++; count > mostRepeated {
			bad = append(bad, violation{repeatedPage, i + 1,
				fmt.Sprintf("more than %d tests: the list only shrinks", mostRepeated)})
		}
		if promise.MatchString(line) {
			bad = append(bad, violation{repeatedPage, i + 1, "a test of a cancel or an approval is never repeated"})
		}
	}
	return bad
}

func TestFewTestsAreRepeated(t *testing.T) {
	report(t, wrongRepeats(repository(t)))
}

func TestFewTestsAreRepeatedFindsViolations(t *testing.T) {
	finds(t, wrongRepeats(made(t, map[string]string{
		repeatedPage: "# A heading\n\n" + strings.Repeat("- `plugin: TestA` ends\n", mostRepeated) + "- `hub: TestCancelled` ends\n",
	})), fmt.Sprintf("%s:%d", repeatedPage, mostRepeated+3), fmt.Sprintf("%s:%d", repeatedPage, mostRepeated+3))
}
