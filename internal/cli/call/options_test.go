package call

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func parseCall(args ...string) (*options, error) {
	return parseRequest("call", args...)
}

func parseRequest(command string, args ...string) (*options, error) {
	var o options
	c := &cobra.Command{Use: command}
	o.register(c)
	if err := c.ParseFlags(args); err != nil {
		return nil, err
	}
	return &o, o.check()
}

func TestCallFlags(t *testing.T) {
	o, err := parseCall("--tool", "sleep", "--args", `{ "seconds" : 1.0 }`, "--stdio", "srv", "--request-id", "r1",
		"--idle-timeout", "0s", "--total-timeout", "90s", "--cancel-after", "0s")
	if err != nil {
		t.Fatal(err)
	}
	want := &mcphubv1.CallToolRequest{
		RequestId: "r1", Server: "stdio", Tool: "sleep", ArgumentsJson: `{ "seconds" : 1.0 }`,
		Timeouts: &mcphubv1.Timeouts{Idle: durationpb.New(0), Total: durationpb.New(90 * time.Second)},
	}
	if diff := cmp.Diff(want, o.request(), protocmp.Transform()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if o.cancelAfter == nil || *o.cancelAfter != 0 {
		t.Errorf("--cancel-after 0s is read as %v", o.cancelAfter)
	}
}

// TestCallDefaults: nothing is allowed, accepted or cancelled that the command line did not ask for.
func TestCallDefaults(t *testing.T) {
	o, err := parseCall("--tool", "sleep", "--stdio", "srv")
	if err != nil {
		t.Fatal(err)
	}
	if o.cancelAfter != nil || o.request().GetTimeouts() != nil {
		t.Errorf("cancel after %v, timeouts %v", o.cancelAfter, o.request().GetTimeouts())
	}
	other, err := parseCall("--tool", "sleep", "--stdio", "srv")
	if err != nil {
		t.Fatal(err)
	}
	if o.requestID == "" || o.requestID == other.requestID {
		t.Errorf("minted request ids %q and %q", o.requestID, other.requestID)
	}
}

// TestCallURLIsTheServer: the one server needs no name, as with --stdio.
func TestCallURLIsTheServer(t *testing.T) {
	o, err := parseCall("--tool", "sleep", "--url", "http://a.example/mcp", "--transport", "sse", "--header", "A: b",
		"--era", "legacy")
	if err != nil {
		t.Fatal(err)
	}
	if o.request().GetServer() != "url" {
		t.Errorf("the server is %q", o.request().GetServer())
	}
	sources, err := o.Sources(o.server)
	want := []*mcphubv1.ConfigSource{{Path: "--url", Scope: "host",
		Json: `{"mcpServers":{"url":{"url":"http://a.example/mcp","type":"sse","headers":{"A":"b"},"era":"legacy"}}}`}}
	if diff := cmp.Diff(want, sources, protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("error %v, sources (-want +got):\n%s", err, diff)
	}
}

// TestCallTaskFlag: --task sets PreferTask, and only that flag does.
func TestCallTaskFlag(t *testing.T) {
	o, err := parseCall("--tool", "t", "--stdio", "srv", "--task")
	if err != nil || !o.request().GetPreferTask() {
		t.Errorf("%v, %v", o.request(), err)
	}
	if o, err := parseCall("--tool", "t", "--stdio", "srv"); err != nil || o.request().GetPreferTask() {
		t.Errorf("without the flag: %v, %v", o.request(), err)
	}
}

// TestRequestMistakes: read and prompt require flags of their own, and refuse those of call that do not apply to them.
func TestRequestMistakes(t *testing.T) {
	tests := []struct {
		command string
		args    []string
		wrong   string
	}{
		{"read", nil, "--uri"},
		{"read", []string{"--uri", "a:b", "--tool", "x"}, "tool"},
		{"read", []string{"--uri", "a:b", "--approve", "allow"}, "approve"},
		{"read", []string{"--uri", "a:b", "--sign-in", "yes"}, "print, decline or hang"},
		{"prompt", nil, "--name"},
		{"prompt", []string{"--name", "p", "--args", `{"a":1}`}, "object of strings"},
		{"prompt", []string{"--name", "p", "--args", `["a"]`}, "object of strings"},
		{"prompt", []string{"--name", "p", "--args", `null`}, "object of strings"},
		{"prompt", []string{"--name", "p", "--task"}, "task"},
	}
	for _, test := range tests {
		_, err := parseRequest(test.command, append([]string{"--stdio", "srv"}, test.args...)...)
		if err == nil || !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s %q: error %v, want one with %q", test.command, test.args, err, test.wrong)
		}
	}
}

func TestCallMistakes(t *testing.T) {
	full := func(args ...string) []string { return append([]string{"--tool", "t", "--stdio", "srv"}, args...) }
	tests := []struct {
		args  []string
		wrong string
	}{
		{[]string{"--stdio", "srv"}, "--tool"},
		{[]string{"--tool", "t"}, "--config"},
		{[]string{"--tool", "t", "--config", "."}, "--server"},
		{full("--server", "x"), "--server"},
		{[]string{"--tool", "t", "--url", "http://a.example", "--server", "x"}, "the server of --url"},
		{full("--url", "http://a.example"), "exclude each other"},
		{full("--approve", "yes"), "allow, deny or hang"},
		{full("--elicit", "yes"), "accept:JSON"},
		{full("--elicit", "accept:[1]"), "JSON object"},
		{full("--elicit", "accept:null"), "JSON object"},
		{full("--elicit", "decline:x"), "accept:JSON"},
		{full("--sign-in", "yes"), "print, decline or hang"},
		{full("--cancel-after", "soon"), "300ms"},
		{full("--idle-timeout", "-1s"), "negative"},
		{full("--linger", "-1s"), "negative"},
		{full("--nonsense"), "nonsense"},
	}
	for _, test := range tests {
		if _, err := parseCall(test.args...); err == nil || !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%q: error %v, want one with %q", test.args, err, test.wrong)
		}
	}
}

// TestPairsAreCheckedBeforeAnythingStarts: mistakes that can be seen without a server are usage errors before anything
// starts, and repeat no value.
func TestPairsAreCheckedBeforeAnythingStarts(t *testing.T) {
	for _, pair := range []string{"s3cret", "=s3cret"} {
		_, err := parseCall("--tool", "echo", "--stdio", "srv", "-a", pair)
		if err == nil || !strings.Contains(err.Error(), "NAME=VALUE") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("-a %s: %v", pair, err)
		}
	}
}

// Files of arguments are read as editors and shells on Windows write them, or the error says how to save them.
func TestArgumentsOfFilesFromWindows(t *testing.T) {
	dir := t.TempDir()
	for name, row := range map[string]struct{ text, want, err string }{
		"plain":      {`{"a":1}`, `{"a":1}`, ""},
		"mark, CRLF": {"\uFEFF{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1\r\n}", ""},
		"UTF-16":     {"\xff\xfe{\x00}\x00", "", "is UTF-16, as Windows PowerShell writes with >; save it as UTF-8"},
	} {
		file := filepath.Join(dir, "args.json")
		if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for way, o := range map[string]*options{"@": {args: "@" + file}, "-": {args: "-"}} {
			err := o.readArguments(strings.NewReader(row.text))
			if row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) || row.err == "" &&
				(err != nil || o.args != row.want) {
				t.Errorf("%s by %s: %q, %v", name, way, o.args, err)
			}
		}
	}
}
