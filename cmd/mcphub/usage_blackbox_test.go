package main

import (
	"strings"
	"testing"
)

func TestNoArgumentsIsUsage(t *testing.T) {
	r := build(t).run()
	if r.status != 2 || r.stdout != "" {
		t.Errorf("status %d, stdout %q", r.status, r.stdout)
	}
	for _, want := range []string{"MCP backend of a code editor", "Usage:", "demo", "call"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("stderr does not say %q:\n%s", want, r.stderr)
		}
	}
}

func TestServeAloneIsUsage(t *testing.T) {
	if r := build(t).run("serve"); r.status != 2 || !strings.Contains(r.stderr, "host") {
		t.Errorf("status %d, stderr %q", r.status, r.stderr)
	}
}

func TestUsageErrors(t *testing.T) {
	p := build(t)
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"fly"}, `"fly"`},
		{[]string{"servers"}, "--config"},
		{[]string{"tools"}, "--config"},
		{[]string{"call", "--tool", "x"}, "--config"},
		{[]string{"call", "--stdio", "x"}, "--tool"},
		{[]string{"call", "--tool", "x", "--stdio", "a | b"}, "quoted"},
		{[]string{"servers", "--config", p.dir + "/none.json"}, "no such file"},
		{[]string{"servers", "extra", "--config", "x"}, "extra"},
		{[]string{"tools", "--config", p.dir, "--era", "legacy"}, "--era"},
		{[]string{"tools", "--stdio", "x", "--sign-in", "yes"}, "print, decline or hang"},
		{[]string{"resources", "--config", p.dir}, "which server"},
		{[]string{"prompts", "srv", "--stdio", "x"}, "the only one"},
		{[]string{"resources"}, "--config"},
		{[]string{"read", "--stdio", "x"}, "--uri"},
		{[]string{"prompt", "--stdio", "x"}, "--name"},
		{[]string{"demo", "--fast"}, "fast"},
		{[]string{"demo-server", "extra"}, "extra"},
		{[]string{"guard", "extra"}, "started by the hub itself"},
		{[]string{"demo-server", "--http", "0.0.0.0:0"}, "--allow-remote"},
		{[]string{"demo-server", "--http", "localhost"}, "HOST:PORT"},
		{[]string{"demo-server", "--allow-remote"}, "--http"},
		{[]string{"demo-server", "--until-eof"}, "--http"},
		{[]string{"servers", "--stdio", "x", "--url", "https://a.example"}, "exclude"},
		{[]string{"help", "fly"}, `"fly"`},
	}
	for _, test := range tests {
		r := p.run(test.args...)
		if r.status != 2 || r.stdout != "" || !strings.Contains(r.stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q; want 2 and %q", test.args, r.status, r.stdout, r.stderr,
				test.want)
		}
	}
}

func TestHelpExplainsEveryCommand(t *testing.T) {
	p := build(t)
	overview := p.run("help")
	if overview.status != 0 {
		t.Errorf("help: status %d", overview.status)
	}
	for command := range synopses {
		if !strings.Contains(overview.stdout, "  "+command+" ") {
			t.Errorf("help does not list %s", command)
		}
		r := p.run("help", command)
		if r.status != 0 || !strings.Contains(r.stdout, "Usage: mcphub "+command) {
			t.Errorf("help %s: status %d, %q", command, r.status, r.stdout)
		}
	}
	r := p.run("call", "--help")
	for _, flag := range []string{"--tool", "--args", "--config", "--server", "--stdio", "--request-id", "--cancel-after",
		"--reason",
		"--url", "--transport", "--header", "--approve", "--elicit", "--sample", "--sign-in", "--launch", "--input",
		"--scope", "--folder", "--dialect", "--task", "--idle-timeout", "--total-timeout", "--era", "--linger", "--json"} {
		if !strings.Contains(r.stdout, "  "+flag) {
			t.Errorf("call --help does not explain %s", flag)
		}
	}
}

func TestVersion(t *testing.T) {
	if r := build(t).run("version"); r.status != 0 || !strings.HasPrefix(r.stdout, "mcphub "+version) {
		t.Errorf("status %d, %q", r.status, r.stdout)
	}
}
