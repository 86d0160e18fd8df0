package call_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestCallNeedsConsentAndInputs: without a terminal a workspace's server starts only with flags that allow the
// launch and give its inputs, and no output shows a value that a flag gave.
func TestCallNeedsConsentAndInputs(t *testing.T) {
	const secret = "s3cret-value"
	for _, test := range []struct {
		args   []string
		status exit.Status
		says   []string
	}{
		{nil, 5, []string{"nobody could be asked", "--launch deny shows", "--launch allow"}},
		{[]string{"--launch", "deny"}, 5, []string{"may server srv be started?", "  command: ", "  directory: ",
			"/ran.jsonl\n", "argument: --greet", "argument: token ${input:token}", "denied"}},
		{[]string{"--launch", "allow"}, 5, []string{"nobody could be asked", "--input token=VALUE"}},
		{[]string{"--launch", "allow", "--input", "token=@MCPHUB_TEST_TOKEN"}, 0, []string{"given by --input token"}},
	} {
		p := clitest.InBubbles(t)
		p.Setenv("MCPHUB_TEST_TOKEN", secret)
		flags, record := clitest.FolderWithServer(&p.Settings)
		for _, form := range [][]string{nil, {"--json"}} {
			r := p.Run(append(append(append([]string{"call"}, flags...), test.args...), form...)...)
			if r.Status != test.status || clitest.Ran(t, record) != (test.status == 0) {
				t.Errorf("%q: status %d, ran %v\n%s%s", test.args, r.Status, clitest.Ran(t, record), r.Stdout, r.Stderr)
			}
			for _, says := range test.says {
				if form == nil && !strings.Contains(r.Stderr, says) {
					t.Errorf("%q: stderr does not say %q:\n%s", test.args, says, r.Stderr)
				}
			}
			if strings.Contains(r.Stdout+r.Stderr, secret) {
				t.Errorf("%q %q: the output shows the value:\n%s%s", test.args, form, r.Stdout, r.Stderr)
			}
		}
	}
}

// TestCallAsksOnTerminal_real: on a terminal a person is asked for consent, for inputs and for approval, in turn; the
// secret is not shown while it is typed, and only a yes lets the server start and the tool run.
func TestCallAsksOnTerminal_real(t *testing.T) {
	t.Parallel()
	const secret = "typed-s3cret"
	p := clitest.Build(t)
	flags, record := clitest.FolderWithServer(&p.Settings)
	flags = slices.DeleteFunc(flags, func(s string) bool { return s == "--approve" || s == "allow" })
	term := p.OnTerminal(nil, append([]string{"call"}, flags...)...)
	term.Expect("command: "+p.Binary, "argument: --record", "Start server srv? [y/N] ")
	if clitest.Ran(t, record) {
		t.Error("the server ran before the yes")
	}
	term.Enter("y")
	term.Expect("server srv needs the input token: Your token", "Value of token (not shown):")
	if err := door.Eventually(t.Context(), "a terminal that hides what is typed", func() (bool, error) {
		return !clitest.Shows(t, term.Master), nil
	}); err != nil {
		t.Fatal(err)
	}
	term.Enter(secret)
	term.Expect("may echo run on srv?", `text: "hi"`, "[y/N] ")
	term.Enter("y")
	if status := term.Wait(); status != 0 || !strings.Contains(term.Said.String(), "hi\r\n") {
		t.Errorf("status %d\n%s", status, term.Said.String())
	}
	if strings.Contains(term.Said.String(), secret) {
		t.Errorf("the screen shows the secret:\n%s", term.Said.String())
	}

	line, _ := p.DemoServer()
	for question, call := range map[string][]string{"Start server srv? [y/N] ": append(flags, "--approve", "allow"),
		"may echo run on stdio?": {"--stdio", line, "--tool", "echo", "--args", `{"text":"hi"}`}} {
		term = p.OnTerminal(nil, append([]string{"call"}, call...)...)
		term.Expect(question)
		term.Enter("")
		if status := term.Wait(); status != 5 {
			t.Errorf("Enter alone: status %d\n%s", status, term.Said.String())
		}
	}
}
