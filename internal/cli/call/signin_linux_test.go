package call_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// echoOf returns the arguments of a call of echo at the server that requires a sign-in.
func echoOf(a *clitest.Authority, args ...string) []string {
	return append([]string{"call", "--url", a.URL + "/mcp", "--tool", "echo", "--approve", "allow"}, args...)
}

// TestCallSignInPrint: the address is printed and the call waits for the browser. The token is kept where only the
// user can read it, apart from those of editors, and the next command needs no sign-in.
func TestCallSignInPrint(t *testing.T) {
	p := clitest.Inside(t)
	a := clitest.NewAuthority(&p.Settings)
	s := p.Start(echoOf(a, "--sign-in", "print")...)
	a.SignIn(t, &s.Stderr)
	r := s.Read()
	if r.Status != 0 || r.Stdout != "signed in\n" {
		t.Fatalf("status %d, stdout %q\n%s", r.Status, r.Stdout, r.Stderr)
	}
	host := strings.TrimPrefix(a.URL, "http://")
	for _, want := range []string{"server url wants you to sign in at " + host + " (issuer " + a.URL +
		")", "Open this page in a browser:\n", "waiting until you have signed in at " + host} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("stderr does not tell %q:\n%s", want, r.Stderr)
		}
	}
	a.Check(t, r.Stdout+r.Stderr)

	again := p.Run(echoOf(a)...)
	if again.Status != 0 || again.Stdout != "signed in\n" || strings.Contains(again.Stderr, "sign in") {
		t.Errorf("the second call: status %d, stdout %q\n%s", again.Status, again.Stdout, again.Stderr)
	}
	if a.Count("/register") != 1 || a.Count("/authorize") != 1 || a.Count("/token") != 1 {
		t.Errorf("the authority saw %v", a.Seen)
	}
	var files []string
	if err := filepath.WalkDir(p.Folder+"/state", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		// The tools that it listed, and their definitions, are no secret; a lock holds none.
		name, _ := strings.CutPrefix(path, p.Folder+"/state/mcphub/command-line/")
		if !strings.HasPrefix(name, "tools.json") && !strings.HasPrefix(name, "definitions.json") && !strings.HasSuffix(name, ".lock") {
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
	p := clitest.Inside(t)
	a := clitest.NewAuthority(&p.Settings)
	p.Setenv("MCPHUB_STATE_DIR", "")
	for n := range 2 {
		s := p.Start(echoOf(a, "--sign-in", "print")...)
		a.SignIn(t, &s.Stderr)
		if r := s.Read(); r.Status != 0 || a.Count("/token") != n+1 {
			t.Errorf("status %d, %d sign-ins\n%s", r.Status, a.Count("/token"), r.Stderr)
		}
	}
	if _, err := os.Stat(p.Folder + "/state"); !os.IsNotExist(err) {
		t.Errorf("state was kept: %v", err)
	}
}

// TestCallSignInWithoutTerminal: without a terminal and without --sign-in print the command does not wait for a
// browser; it names the flag.
func TestCallSignInWithoutTerminal(t *testing.T) {
	p := clitest.Inside(t)
	a := clitest.NewAuthority(&p.Settings)
	for _, flags := range [][]string{nil, {"--sign-in", "decline"}} {
		r := p.Run(echoOf(a, append(flags, "--json")...)...)
		c := clitest.ReadConversation(t, r.Stdout)
		want := "the sign-in to url was declined"
		if flags == nil {
			want = "nobody could be asked: there is no terminal; --sign-in print"
		}
		if c.Failure == nil || r.Status != exit.StatusOf(c.Failure) || !strings.Contains(c.Failure.Message, want) {
			t.Errorf("%q: status %d, %+v, want %q\n%s", flags, r.Status, c.Failure, want, r.Stderr)
		}
		a.Check(t, r.Stdout+r.Stderr)
	}
	if n := a.Count("/authorize"); n != 0 {
		t.Errorf("the page was opened %d times", n)
	}
}

// TestListsSignIn: commands that list take --sign-in too, and servers shows the state of sign-ins.
func TestListsSignIn(t *testing.T) {
	p := clitest.Inside(t)
	a := clitest.NewAuthority(&p.Settings)
	r := p.Run("tools", "--url", a.URL+"/mcp")
	if r.Status == 0 || !strings.Contains(r.Stderr, "--sign-in print") {
		t.Errorf("by default: status %d\n%s", r.Status, r.Stderr)
	}
	if r := p.Run("servers", "--start", "--url", a.URL+"/mcp"); r.Status != 6 ||
		!strings.Contains(r.Stdout, "not signed in") {
		t.Errorf("servers: status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	s := p.Start("tools", "--sign-in", "print", "--url", a.URL+"/mcp")
	a.SignIn(t, &s.Stderr)
	if r := s.Read(); r.Status != 0 || !strings.Contains(r.Stdout, "echo") {
		t.Errorf("status %d, stdout %q\n%s", r.Status, r.Stdout, r.Stderr)
	}
	if r := p.Run("servers", "--start", "--url", a.URL+"/mcp"); r.Status != 0 ||
		!strings.Contains(clitest.Row(t, r.Stdout, "url"), "ready, signed in") {
		t.Errorf("servers: status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	if a.Count("/authorize") != 1 {
		t.Errorf("the page was opened %d times", a.Count("/authorize"))
	}
}

// TestCallSignInOnTerminal_real: on a terminal no flag is needed: the address is shown, and Ctrl-C cancels.
func TestCallSignInOnTerminal_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	a := clitest.NewAuthority(&p.Settings)
	term := p.OnTerminal(nil, echoOf(a)...)
	a.SignIn(t, &term.Said)
	term.Expect("signed in\r\n")
	if status := term.Wait(); status != 0 {
		t.Errorf("status %d\n%s", status, term.Said.String())
	}

	if err := os.RemoveAll(p.Folder + "/state"); err != nil {
		t.Fatal(err)
	}
	term = p.OnTerminal(nil, echoOf(a)...)
	term.Expect("waiting until you have signed in")
	if _, err := term.Master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if status := term.Wait(); status != 3 {
		t.Errorf("Ctrl-C: status %d\n%s", status, term.Said.String())
	}
}
