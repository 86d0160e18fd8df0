package source_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli"
	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestURLMistakesShowNoSecret: each mistake is a usage error that does not repeat what may be secret.
func TestURLMistakesShowNoSecret(t *testing.T) {
	tests := []struct {
		args  []string
		wrong string
	}{
		{[]string{"--url", "a.example?s3cret"}, "--url: must begin with https://"},
		{[]string{"--url", "https://ada:s3cret@a.example"}, "--url: must not hold a user name"},
		{[]string{"--url", "https://a.example:s3cret"}, "--url: is not a URL"},
		{[]string{"--url", "https://a.example", "--header", "s3cret"}, "has no colon"},
		{[]string{"--url", "https://a.example", "--header", "Bearer s3cret:x"}, "--header: the name of a header"},
		{[]string{"--url", "https://a.example", "--header", ":s3cret"}, "--header: the name of a header"},
		{[]string{"--url", "https://a.example", "--header", "A:s3cret\nB:s3cret"},
			"--header A: must not hold control characters"},
		{[]string{"--url", "https://a.example", "--header", "accept:s3cret"}, "--header accept: is set by the protocol"},
		{[]string{"--url", "https://a.example", "--header", "X-A:s3cret", "--header", "x-a:s3cret"},
			"--header x-a: is given twice"},
		{[]string{"--header", "s3cret"}, "--url"},
		{[]string{"--stdio", "srv", "--header", "s3cret"}, "--header goes with --url"},
	}
	for _, test := range tests {
		var stdout, stderr bytes.Buffer
		status := cli.Run(clitest.Printing(&stdout, &stderr), append([]string{"call", "--tool", "t"}, test.args...))
		if status != exit.Usage || !strings.Contains(stderr.String(), test.wrong) ||
			strings.Contains(stdout.String()+stderr.String(), "s3cret") {
			t.Errorf("%q: status %d, stderr %q; want %q and no secret", test.args, status, stderr.String(), test.wrong)
		}
	}
}
