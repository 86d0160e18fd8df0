package questions

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func launchPrompt(l *mcphubv1.ServerLaunch) *mcphubv1.Prompt {
	return &mcphubv1.Prompt{PromptId: "p", Server: "s", Question: &mcphubv1.Prompt_ServerLaunch{ServerLaunch: l}}
}

func inputPrompt(in *mcphubv1.ConfigInput) *mcphubv1.Prompt {
	return &mcphubv1.Prompt{PromptId: "p", Server: "s", Question: &mcphubv1.Prompt_ConfigInput{ConfigInput: in}}
}

// parse returns the answers of flags.
func parse(args ...string) (*Answers, error) {
	a, set := new(Answers), pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.ChoiceFlag(set, &a.Approve, "approve", "allow|deny|hang", "")
	a.RegisterCall(set)
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	return a, a.Inputs.Check()
}

// TestLaunchOptions: a launch has a flag of its own; no other flag agrees to one, and without a terminal nobody is
// asked.
func TestLaunchOptions(t *testing.T) {
	for _, test := range []struct {
		args     []string
		terminal bool
		want     string // accept, decline, ask, or unasked
	}{
		{nil, false, "unasked"},
		{nil, true, "ask"},
		{[]string{"--launch", "ask"}, false, "unasked"},
		{[]string{"--launch", "ask"}, true, "ask"},
		{[]string{"--launch", "allow"}, false, "accept"},
		{[]string{"--launch", "deny"}, true, "decline"},
		{[]string{"--approve", "allow", "--elicit", "accept:{}", "--sign-in", "print"}, false, "unasked"},
		{[]string{"--approve", "allow"}, true, "ask"},
	} {
		o, err := parse(test.args...)
		if err != nil {
			t.Fatal(err)
		}
		shows := slices.Contains(o.Kinds(test.terminal), mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH)
		if shows == (test.want == "unasked") {
			t.Errorf("%q, terminal %v: shown: %v", test.args, test.terminal, shows)
		}
		if !shows {
			continue
		}
		answer, note, ask := o.AnswerTo(launchPrompt(&mcphubv1.ServerLaunch{Command: "c"}), test.terminal)
		got := map[bool]string{true: "ask", false: "decline"}[ask]
		if answer.GetAccept() != nil {
			got = "accept"
			if s := answer.GetAccept().GetScope(); s != mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE {
				t.Errorf("%q: a yes of the scope %v", test.args, s)
			}
		}
		if got != test.want || (answer == nil) != ask {
			t.Errorf("%q, terminal %v: %s, want %s", test.args, test.terminal, got, test.want)
		}
		if got == "decline" && note == "" {
			t.Errorf("%q: the decline has no note", test.args)
		}
	}
	if _, err := parse("--launch", "yes"); err == nil ||
		!strings.Contains(err.Error(), "ask, allow or deny") {
		t.Errorf("--launch yes: %v", err)
	}
}

// TestLaunchQuestion: a launch is shown whole, with each thing on a line of its own and escaped, so that two different
// launches never look the same.
func TestLaunchQuestion(t *testing.T) {
	got := Lines(launchPrompt(&mcphubv1.ServerLaunch{
		Command: "npx", Args: []string{"-y", "a b", "", "two\nlines", "\u202etxt", `"quoted"`, "--token=${input:k}"},
		Directory:        "/w",
		EnvironmentNames: []string{"A", "B", "C", "NODE_OPTIONS"}, ResolvedCommand: "/usr/bin/npx",
		ResolvedTarget: "/usr/lib/npx-cli.js", EnvFileNames: []string{"T"},
		Environment: []*mcphubv1.LaunchVariable{
			{Name: "A", Value: "x\u202e"}, {Name: "B", Unset: true}, {Name: "NODE_OPTIONS", Value: "--require ./x.js",
				LoadsCode: true},
		}, EnvironmentReferences: []string{"HOME"}, InputReferences: []string{"key"}, EnvFile: "/w/.env", Url: "",
		HeaderNames:  []string{"X"},
		AllowedTools: []string{"read_*"}, Files: []string{"/w/token"}, ConfigFile: ".mcp.json", ConfigLine: 3, Changed: true,
		Changes: []*mcphubv1.DefinitionChange{{Path: "args[1]", BeforeJson: `"x"`, AfterJson: `"a b"`},
			{Path: "cwd", AfterJson: `"/w"`}, {Path: "env.C", BeforeJson: "1"}},
	}))
	want := []string{
		"question p: may server s be started? A file of the workspace brings it: .mcp.json:3",
		"  command: npx", "  argument: -y", "  argument: a b", `  argument: ""`, `  argument: "two\nlines"`,
		`  argument: "\u202etxt"`, `  argument: "\"quoted\""`,
		"  argument: --token=${input:k}", "  runs the program: /usr/bin/npx, which is /usr/lib/npx-cli.js", "  directory: /w",
		"  WARNING, can load other code: NODE_OPTIONS=--require ./x.js", `  sets the variable: A="x\u202e"`,
		"  sets the variable: B is taken away", "  sets the variable: C",
		"  sends the header: X",
		"  would see your variable: HOME", "  would be given your input: key", "  variables from the file: /w/.env",
		"  that file sets the variable: T", "  reads the file: /w/token",
		"  wants to be called without a question: read_*", "  it has changed since you agreed to it:",
		`    args[1] was "x"`, `    args[1] is  "a b"`, `    cwd is new: "/w"`, "    env.C is gone; it was 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	long := strings.Repeat("x", 5000)
	whole := Lines(launchPrompt(&mcphubv1.ServerLaunch{Url: "https://a.example/" + long}))
	if len(whole) < 2 || whole[1] != "  address: https://a.example/"+long {
		t.Error("a long address is not shown whole")
	}
}

// TestLaunchQuestionSpellsLetters (finding G11): letters that look like others are spelled out, in the name of the
// server as in all that would be run.
func TestLaunchQuestionSpellsLetters(t *testing.T) {
	prompt := launchPrompt(&mcphubv1.ServerLaunch{
		Command: "/usr/bin/n\u043ede", Args: []string{"--\u0440ath=\u202e/tmp"}, ResolvedCommand: "/usr/bin/n\u043ede",
		Environment: []*mcphubv1.LaunchVariable{{Name: "\u0420ATH", Value: "/srv/m\u00fcller"}}, ConfigFile: ".mcp.json",
	})
	prompt.Server = "g\u0456thub"
	want := []string{
		"question p: may server g\u0456thub (spelled \"g\\u0456thub\") be started? " +
			"A file of the workspace brings it: .mcp.json",
		"  command: /usr/bin/n\u043ede (spelled \"/usr/bin/n\\u043ede\")",
		`  argument: "--\u0440ath=\u202e/tmp"`,
		"  runs the program: /usr/bin/n\u043ede (spelled \"/usr/bin/n\\u043ede\")",
		"  sets the variable: \u0420ATH (spelled \"\\u0420ATH\")=/srv/m\u00fcller (spelled \"/srv/m\\u00fcller\")",
	}
	if diff := cmp.Diff(want, Lines(prompt)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLaunchQuestionQuotesTheWriter (finding G11): a program that calls itself McpHub does not speak for it.
func TestLaunchQuestionQuotesTheWriter(t *testing.T) {
	got := Lines(launchPrompt(&mcphubv1.ServerLaunch{Command: "c",
		WrittenBy: &mcphubv1.ConfigWriter{Name: `McpHub itself`}, ConfigFile: ".mcp.json"}))
	want := `question p: may server s be started? The program "McpHub itself" had its entry written: .mcp.json`
	if got[0] != want {
		t.Errorf("got  %s\nwant %s", got[0], want)
	}
}

// TestApprovalShowsChanges: a definition that was changed since it was approved shows how.
func TestApprovalShowsChanges(t *testing.T) {
	got := Lines(&mcphubv1.Prompt{PromptId: "p", Server: "s",
		Question: &mcphubv1.Prompt_ToolApproval{ToolApproval: &mcphubv1.ToolApproval{
			Tool: "rm", ArgumentsJson: "{}", Changes: []*mcphubv1.DefinitionChange{{Path: "description", BeforeJson: `"a"`,
				AfterJson: "\"b\x1b\""}, {BeforeJson: "1", AfterJson: "2"}},
		}}})
	want := []string{"question p: may rm run on s?", "  arguments: none",
		"  its definition has changed since you allowed it:",
		`    description was "a"`, `    description is  "b\x1b"`, "    the whole was 1", "    the whole is  2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInputOptions: values come from the command line or the environment, fit their options, and are never repeated.
func TestInputOptions(t *testing.T) {
	t.Setenv("MCPHUB_TEST_VALUE", "from the environment")
	o, err := parse("--input", "a=b=c", "--input", "e=@MCPHUB_TEST_VALUE", "--input",
		"at=@@x", "--input", "empty=", "--input", "o=two")
	if err != nil {
		t.Fatal(err)
	}
	options := []*mcphubv1.ConfigInputOption{{Value: "one"}, {Value: "two"}}
	for _, test := range []struct {
		in       *mcphubv1.ConfigInput
		terminal bool
		want     string // the value, "decline" or "ask"
	}{
		{&mcphubv1.ConfigInput{InputId: "a"}, false, `"b=c"`},
		{&mcphubv1.ConfigInput{InputId: "e", Secret: true}, true, `"from the environment"`},
		{&mcphubv1.ConfigInput{InputId: "at"}, false, `"@x"`},
		{&mcphubv1.ConfigInput{InputId: "empty"}, false, `""`},
		{&mcphubv1.ConfigInput{InputId: "o", Options: options}, false, `"two"`},
		{&mcphubv1.ConfigInput{InputId: "a", Options: options}, true, "decline"},
		{&mcphubv1.ConfigInput{InputId: "none", DefaultValue: "d"}, false, "decline"},
		{&mcphubv1.ConfigInput{InputId: "none"}, true, "ask"},
	} {
		answer, note, ask := o.AnswerTo(inputPrompt(test.in), test.terminal)
		got := map[bool]string{true: "ask", false: "decline"}[ask]
		if a := answer.GetAccept(); a != nil {
			got = a.GetContentJson()
			if !a.GetKeptByHost() {
				t.Errorf("%s: KeptByHost is not set", test.in.GetInputId())
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.in.GetInputId(), got, test.want)
		}
		for _, value := range []string{"b=c", "environment"} {
			if strings.Contains(note, value) || strings.Contains(answer.GetDecline().GetReason(), value) {
				t.Errorf("%s: a value is repeated: %q %q", test.in.GetInputId(), note, answer.GetDecline().GetReason())
			}
		}
		if got == "decline" && note == "" {
			t.Errorf("%s: the decline has no note", test.in.GetInputId())
		}
	}
	for _, test := range []struct{ value, want string }{
		{"s3cret", "ID=VALUE"}, {"=s3cret", "ID=VALUE"}, {"a=@NOT_SET_ANYWHERE",
			"--input a: its environment variable is not set"},
	} {
		if _, err := parse("--input", test.value); err == nil ||
			!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("--input: %v, want %q", err, test.want)
		}
	}
	if _, err := parse("--input", "a=1", "--input", "a=2"); err == nil ||
		!strings.Contains(err.Error(), "twice") {
		t.Errorf("given twice: %v", err)
	}
}

// content returns an answer as text: the prompt's id, and yes, no or the value.
func content(a *mcphubv1.PromptAnswer) string {
	if a.GetAccept() == nil {
		return a.GetPromptId() + " no"
	}
	var value string
	if json.Unmarshal([]byte(a.GetAccept().GetContentJson()), &value) != nil {
		return a.GetPromptId() + " yes"
	}
	return a.GetPromptId() + " " + value
}
