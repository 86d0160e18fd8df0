package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// echoOf returns the arguments of a call of echo at the server that requires a sign-in.
func (a *authority) echoOf(args ...string) []string {
	return append([]string{"call", "--url", a.URL + "/mcp", "--tool", "echo", "--approve", "allow"}, args...)
}

// TestCallSignInPrint: the address is printed and the call waits for the browser. The token is kept where only the
// user can read it, apart from those of editors, and the next command needs no sign-in.
func TestCallSignInPrint(t *testing.T) {
	p := inside(t)
	a := newAuthority(&p.settings)
	s := p.start(a.echoOf("--sign-in", "print")...)
	a.signIn(t, &s.stderr)
	r := s.read()
	if r.status != 0 || r.stdout != "signed in\n" {
		t.Fatalf("status %d, stdout %q\n%s", r.status, r.stdout, r.stderr)
	}
	host := strings.TrimPrefix(a.URL, "http://")
	for _, want := range []string{"server url wants you to sign in at " + host + " (issuer " + a.URL +
		")", "Open this page in a browser:\n", "waiting until you have signed in at " + host} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("stderr does not tell %q:\n%s", want, r.stderr)
		}
	}
	a.check(t, r.stdout+r.stderr)

	again := p.run(a.echoOf()...)
	if again.status != 0 || again.stdout != "signed in\n" || strings.Contains(again.stderr, "sign in") {
		t.Errorf("the second call: status %d, stdout %q\n%s", again.status, again.stdout, again.stderr)
	}
	if a.count("/register") != 1 || a.count("/authorize") != 1 || a.count("/token") != 1 {
		t.Errorf("the authority saw %v", a.seen)
	}
	var files []string
	if err := filepath.WalkDir(p.dir+"/state", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		// The tools that it listed, and their definitions, are no secret; a lock holds none.
		if name, _ := strings.CutPrefix(path, p.dir+"/state/mcphub/command-line/"); !strings.HasPrefix(name, "tools.json") &&
			!strings.HasPrefix(name, "definitions.json") && !strings.HasSuffix(name, ".lock") {
			files = append(files, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || !strings.HasPrefix(files[0], "sign-in/") {
		t.Errorf("kept are %q", files)
	}
}

// TestCallSignInForgotten: with an empty MCPHUB_STATE_DIR a token lasts as long as the command, and no file is
// written.
func TestCallSignInForgotten(t *testing.T) {
	p := inside(t)
	a := newAuthority(&p.settings)
	p.setenv("MCPHUB_STATE_DIR", "")
	for n := range 2 {
		s := p.start(a.echoOf("--sign-in", "print")...)
		a.signIn(t, &s.stderr)
		if r := s.read(); r.status != 0 || a.count("/token") != n+1 {
			t.Errorf("status %d, %d sign-ins\n%s", r.status, a.count("/token"), r.stderr)
		}
	}
	if _, err := os.Stat(p.dir + "/state"); !os.IsNotExist(err) {
		t.Errorf("state was kept: %v", err)
	}
}

// TestCallSignInWithoutTerminal: without a terminal and without --sign-in print the command does not wait for a
// browser; it names the flag.
func TestCallSignInWithoutTerminal(t *testing.T) {
	p := inside(t)
	a := newAuthority(&p.settings)
	for _, flags := range [][]string{nil, {"--sign-in", "decline"}} {
		r := p.run(a.echoOf(append(flags, "--json")...)...)
		c := readConversation(t, r.stdout)
		want := "the sign-in to url was declined"
		if flags == nil {
			want = "nobody could be asked: there is no terminal; --sign-in print"
		}
		if c.failure == nil || r.status != exitOf(c.failure) || !strings.Contains(c.failure.Message, want) {
			t.Errorf("%q: status %d, %+v, want %q\n%s", flags, r.status, c.failure, want, r.stderr)
		}
		a.check(t, r.stdout+r.stderr)
	}
	if n := a.count("/authorize"); n != 0 {
		t.Errorf("the page was opened %d times", n)
	}
}

// TestListsSignIn: commands that list take --sign-in too, and servers shows the state of sign-ins.
func TestListsSignIn(t *testing.T) {
	p := inside(t)
	a := newAuthority(&p.settings)
	r := p.run("tools", "--url", a.URL+"/mcp")
	if r.status == 0 || !strings.Contains(r.stderr, "--sign-in print") {
		t.Errorf("by default: status %d\n%s", r.status, r.stderr)
	}
	if r := p.run("servers", "--start", "--url", a.URL+"/mcp"); r.status != 6 ||
		!strings.Contains(r.stdout, "not signed in") {
		t.Errorf("servers: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	s := p.start("tools", "--sign-in", "print", "--url", a.URL+"/mcp")
	a.signIn(t, &s.stderr)
	if r := s.read(); r.status != 0 || !strings.Contains(r.stdout, "echo") {
		t.Errorf("status %d, stdout %q\n%s", r.status, r.stdout, r.stderr)
	}
	if r := p.run("servers", "--start", "--url", a.URL+"/mcp"); r.status != 0 ||
		!strings.Contains(row(t, r.stdout, "url"), "ready, signed in") {
		t.Errorf("servers: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if a.count("/authorize") != 1 {
		t.Errorf("the page was opened %d times", a.count("/authorize"))
	}
}

// TestCallSignInOnTerminal_real: on a terminal no flag is needed: the address is shown, and Ctrl-C cancels.
func TestCallSignInOnTerminal_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	a := newAuthority(&p.settings)
	term := p.onTerminal(nil, a.echoOf()...)
	a.signIn(t, &term.said)
	term.expect("signed in\r\n")
	if status := term.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, term.said.String())
	}

	if err := os.RemoveAll(p.dir + "/state"); err != nil {
		t.Fatal(err)
	}
	term = p.onTerminal(nil, a.echoOf()...)
	term.expect("waiting until you have signed in")
	if _, err := term.master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if status := term.wait(); status != 3 {
		t.Errorf("Ctrl-C: status %d\n%s", status, term.said.String())
	}
}
