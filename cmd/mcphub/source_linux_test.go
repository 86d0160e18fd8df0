package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Finding D10: every command takes the names of servers and files in the same ways.
func TestWhichServers(t *testing.T) {
	p := inBubbles(t)
	p.setenv("HOME", p.dir)
	p.setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	t.Chdir(t.TempDir())
	entry := fmt.Sprintf(`{"command": %q, "args": ["demo-server"], "alwaysAllow": ["echo"]}`, p.path)
	if err := os.WriteFile(filepath.Join(p.dir, ".claude.json"), fmt.Appendf(nil, `{"mcpServers": {"mine": %s}}`, entry),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("named.json", fmt.Appendf(nil,
		`{"mcpServers": {"one": %s, "two": %s}}`, entry, entry), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("arguments.json", []byte(`{"text":"from a file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	said := func(stdin, want string, args ...string) {
		t.Helper()
		if r := p.runWith(stdin, args...); r.status != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("mcphub %q: status %d, stdout %q, want %q\n%s", args, r.status, r.stdout, want, r.stderr)
		}
	}
	said("", "mine ", "servers")
	said("", "two ", "servers", "named.json")
	if r := p.run("servers", "named.json", "two"); r.status != 0 || strings.Contains(r.stdout, "\none ") ||
		!strings.Contains(r.stdout, "\ntwo ") {
		t.Errorf("one of two: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	said("", "-a text=TEXT", "tools", "mine", "echo")
	said("", "typed", "call", "mine", "echo", "-a", "text=typed", "--approve", "allow") // the one server of the user
	said("", "from a file", "call", "named.json", "--server", "one", "echo", "--args", "@arguments.json", "--approve",
		"allow")
	said(`{"text":"from the input"}`, "from the input", "call", "--config", "named.json", "two", "echo", "--args", "-",
		"--approve", "allow")
	said("", "by the one", "call", "--stdio", p.path+" demo-server", "echo", "-a", "text=by the one", "--approve", "allow")

	for _, test := range []struct {
		want string
		args []string
	}{
		{"there are one, two", []string{"call", "named.json", "--tool", "echo"}},
		{"which tool?", []string{"call", "named.json", "one"}},
		{`did you mean "echo"?`, []string{"tools", "mine", "ehco"}},
		{`did you mean "text"?`, []string{"call", "mine", "echo", "-a", "txt=x", "--approve", "allow"}},
		{"too many", []string{"call", "mine", "echo", "more"}},
		{`did you mean "mine"?`, []string{"servers", "mien"}},
		{"one server", []string{"servers", "named.json", "one", "two", "--env", "A=b"}},
		{"all servers", []string{"servers", "mine", "--watch"}},
		{"none.json", []string{"call", "mine", "echo", "--args", "@none.json"}},
	} {
		if r := p.run(test.args...); r.status != 2 || !strings.Contains(r.stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stderr %q; want 2 and %q", test.args, r.status, r.stderr, test.want)
		}
	}
}

// TestDoctorAsksForTheFoldersServer: a server is not started without consent when its file was not named, but
// found in the current folder.
func TestDoctorAsksForTheFoldersServer(t *testing.T) {
	p := inside(t)
	t.Chdir(t.TempDir())
	ran := filepath.Join(p.dir, "ran")
	if err := os.WriteFile(".mcp.json", fmt.Appendf(nil,
		`{"mcpServers": {"theirs": {"command": "touch", "args": [%q]}}}`, ran), 0o600); err != nil {
		t.Fatal(err)
	}
	r := p.run("doctor", "theirs")
	if _, err := os.Stat(ran); r.status != exitDenied || err == nil {
		t.Errorf("status %d, ran %v\n%s%s", r.status, err == nil, r.stdout, r.stderr)
	}
}

// Finding D1: --cancel-after counts from the moment in which the server has the request, however long its start takes;
// --cancel-at counts from the start of the command.
func TestCancelAfterReachesASlowServer(t *testing.T) {
	p := inBubbles(t)
	p.slow = 3 * time.Second
	line, record := p.demoServer()
	call := []string{"call", "--json", "--stdio", line, "sleep", "--args", `{"seconds":60}`, "--approve", "allow"}
	r := p.run(append(call, "--cancel-after", "300ms", "--reason", "took too long")...)
	if c := readConversation(t, r.stdout); r.status != 3 || c.failure == nil || c.failure.Code != "CANCELLED" {
		t.Errorf("--cancel-after: status %d, %+v\n%s", r.status, c.failure, r.stderr)
	}
	heardCancel(t, record, "took too long")
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	r = p.run(append(call, "--cancel-at", "300ms", "--reason", "too late")...)
	if c := readConversation(t, r.stdout); r.status != 3 || c.failure == nil || c.failure.Code != "CANCELLED" {
		t.Errorf("--cancel-at: status %d, %+v\n%s", r.status, c.failure, r.stderr)
	}
	if text, _ := os.ReadFile(record); strings.Contains(string(text), "sleep") {
		t.Errorf("the request was sent after all:\n%s", text)
	}
}

// Finding D2: --stdio runs in the current folder, with the variables that --env gives.
func TestStdioRunsInTheCurrentFolder_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	folder := t.TempDir()
	script := "#!/bin/sh\necho \"$MCPHUB_TEST_GIVEN\" >given\nexec '" + p.path + "' demo-server\n"
	if err := os.WriteFile(filepath.Join(folder, "server"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("tools", "--stdio", "./server", "--env", "MCPHUB_TEST_GIVEN=here")
	cmd.Dir = folder
	r := p.Run(cmd)
	text, err := os.ReadFile(filepath.Join(folder, "given"))
	if r.Status != 0 || err != nil || string(text) != "here\n" {
		t.Errorf("status %d, the server wrote %q, %v\n%s", r.Status, text, err, r.Stderr)
	}
}
