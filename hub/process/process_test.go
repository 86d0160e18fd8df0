//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mcphub-go/mcphub/hub/bounds"
)

func TestExitStatus_real(t *testing.T) {
	tests := []struct {
		mode string
		want Exit
		text string
	}{
		{"exit-code-3", Exit{Code: 3, Stage: StageExited, Group: StageExited}, "exited with code 3"},
		{"kill-itself", Exit{Code: -1, Signal: "SIGKILL", Stage: StageExited, Group: StageExited}, "ended by SIGKILL"},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			p := start(t, tt.mode)
			within(t, p.Done(), "Done")
			if diff := cmp.Diff(tt.want, p.Exit()); diff != "" {
				t.Error(diff)
			}
			if got := p.Stop("too late"); got != tt.want {
				t.Errorf("Stop after the end gives %+v", got)
			}
			if got := p.Exit().String(); got != tt.text {
				t.Errorf("in words: %q", got)
			}
		})
	}
	t.Run("running", func(t *testing.T) {
		p := start(t, "exit-on-eof")
		if got := p.Exit(); got.Code != -1 || got.Stage != "" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("reason is bounded", func(t *testing.T) {
		p := start(t, "exit-on-eof", withGrace(generous))
		why := p.Stop("a\nb\x1b[31m" + strings.Repeat("é", 1000)).Why
		if !strings.HasPrefix(why, `a\nb\u001b[31mé`) || utf8.RuneCountInString(why) > bounds.PrintableRunes+10 {
			t.Errorf("got %q", why)
		}
	})
}

func TestStdoutEOFAfterExit_real(t *testing.T) {
	t.Run("everything written is read", func(t *testing.T) {
		p := start(t, "burst-and-exit")
		within(t, p.Done(), "Done, though nobody has read") // the sweep has ended the reader by now
		got, err := io.ReadAll(p.Stdout())
		if err != nil || len(got) != 60<<10 {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
		if n, err := p.Stdout().Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("after the end: %d, %v", n, err)
		}
	})
	t.Run("a blocked reader wakes up", func(t *testing.T) {
		p := start(t, "ignore-term")
		ready(t, p.Stdout())
		read := make(chan error, 1)
		go func() {
			_, err := p.Stdout().Read(make([]byte, 1))
			read <- err
		}()
		p.Stop("enough")
		if err := <-read; err != io.EOF {
			t.Errorf("got %v", err)
		}
	})
}

func TestStderrRing_real(t *testing.T) {
	var seen []string // written by the one goroutine that calls OnStderr, read after Done
	p := start(t, "stderr-flood", func(c *Command) {
		c.StderrBytes = 4 << 10
		c.OnStderr = func(line string) { seen = append(seen, line) }
	})
	within(t, p.Done(), "Done")

	if len(seen) != 20002 {
		t.Fatalf("%d lines were told", len(seen))
	}
	if long := seen[0]; long != strings.Repeat("ä", maxStderrLine/2)+"…" {
		t.Errorf("the long line came as %d bytes", len(long))
	}
	for i, line := range seen[1:20001] {
		if line != fmt.Sprintf("line %d", i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	last := "no newline\uFFFD at the end"
	if seen[20001] != last {
		t.Errorf("the last line is %q", seen[20001])
	}

	kept := p.Stderr()
	size := 0
	for _, line := range kept {
		size += len(line) + 1
	}
	if size > 4<<10 || size < 4<<10-20 {
		t.Errorf("the ring holds %d bytes", size)
	}
	if want := seen[len(seen)-len(kept):]; !slices.Equal(kept, want) {
		t.Error("the ring does not hold the newest lines")
	}
}

func TestEnvironmentScrubbed_real(t *testing.T) {
	for name, value := range map[string]string{
		"PLUGIN_CLIENT_CERT": "pem", "PLUGIN_UNIX_SOCKET_DIR": "/s", "MCPHUB_PLUGIN_COOKIE": "c",
		"VSCODE_PID": "1", "ELECTRON_RUN_AS_NODE": "1", "GITHUB_TOKEN": "secret", "SSH_AUTH_SOCK": "/a",
		"LC_MESSAGES": "de_DE.UTF-8", "XDG_CONFIG_HOME": "/x", "TERM": "() { :;}; echo",
	} {
		t.Setenv(name, value)
	}
	value := func(s string) *string { return &s }
	p := start(t, "print-env", withGrace(generous), func(c *Command) {
		c.Env = Environment(os.Environ(), Own, map[string]*string{
			childMode: value("print-env"), "API_KEY": value("k=v"), "XDG_CONFIG_HOME": nil,
			"VSCODE_ASKED": value("yes"), "": value("nameless"), "A=B": value("odd"),
		})
	})
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Split(strings.TrimSpace(string(out)), "\n")
	allowed := map[string]bool{"API_KEY": true, "VSCODE_ASKED": true, childMode: true}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if !allowed[name] && !matchAny(inheritUnix, name) && !matchAny(inheritSettings, name) &&
			!matchAny(inheritRights, name) {
			t.Errorf("the child sees %s", kv)
		}
		if name == "XDG_CONFIG_HOME" || name == "TERM" {
			t.Errorf("the child sees %s", kv)
		}
	}
	for _, want := range []string{"API_KEY=k=v", "VSCODE_ASKED=yes", "LC_MESSAGES=de_DE.UTF-8", "PATH=" +
		os.Getenv("PATH")} {
		if !slices.Contains(env, want) {
			t.Errorf("the child does not see %s", want)
		}
	}
}

// An empty environment must not turn into the hub's own.
func TestEmptyEnvironmentStaysEmpty_real(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs an env program at a known place")
	}
	p := start(t, "", func(c *Command) { c.Path, c.Env = "/usr/bin/env", nil })
	out, err := io.ReadAll(p.Stdout())
	if err != nil || len(out) != 0 {
		t.Errorf("the child sees %q, %v", out, err)
	}
}

func TestStartErrors_real(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("not-executable", "", 0o644)
	file("no-shebang", "just text\n", 0o755)
	file("bad-shebang", "#!/no/such/interpreter\n", 0o755)
	path := "PATH=" + dir

	tests := []struct {
		name    string
		c       Command
		setting string
		is      error
		says    string
	}{
		{"empty", Command{}, "command", fs.ErrInvalid, `set "command"`},
		{"not in PATH", Command{Path: "no-such-program", Env: []string{path}}, "command", fs.ErrNotExist,
			"not found in the PATH"},
		{"no PATH at all", Command{Path: "sh"}, "command", fs.ErrNotExist, "not found in the PATH"},
		{"relative PATH", Command{Path: "sh", Env: []string{"PATH=.:bin"}}, "command", fs.ErrNotExist,
			"not found in the PATH"},
		{"a command line", Command{Path: "npx -y server", Env: []string{path}}, "command", fs.ErrNotExist,
			`move what follows into "args"`},
		{"not executable in PATH", Command{Path: "not-executable", Env: []string{path}}, "command", fs.ErrPermission,
			"not executable"},
		{"no file", Command{Path: filepath.Join(dir, "nothing")}, "command", fs.ErrNotExist, "there is no file"},
		{"no file under dir", Command{Path: "./nothing", Dir: dir}, "command", fs.ErrNotExist, filepath.Join(dir, "nothing")},
		{"directory", Command{Path: dir}, "command", nil, "is a directory"},
		{"not executable", Command{Path: "./not-executable", Dir: dir}, "command", fs.ErrPermission, "is not executable"},
		{"no shebang", Command{Path: "no-shebang", Env: []string{path}}, "command", nil, `a first line "#!"`},
		{"bad shebang", Command{Path: "bad-shebang", Env: []string{path}}, "command", fs.ErrNotExist, "interpreter"},
		{"no directory", Command{Path: "sh", Dir: filepath.Join(dir, "nowhere")}, "cwd", fs.ErrNotExist, `change "cwd"`},
		{"file as directory", Command{Path: "sh", Dir: filepath.Join(dir, "no-shebang")}, "cwd", nil, "is not a directory"},
		{"zero byte in env", Command{Path: "/bin/sh", Env: []string{"A=secret\x00"}}, "env", fs.ErrInvalid, `"A"`},
		{"zero byte in args", Command{Path: "/bin/sh", Args: []string{"secret\x00"}}, "args", nil, "zero byte"},
		{"too long", Command{Path: "/bin/sh", Args: []string{strings.Repeat("secret", 1<<20)}}, "args", nil, "too long"},
	}
	before := openFiles(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Start(tt.c)
			if err == nil {
				p.Kill("should not run")
				t.Fatal("it was started")
			}
			var se *StartError
			if !errors.As(err, &se) {
				t.Fatalf("a %T: %v", err, err)
			}
			if se.Setting != tt.setting || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("setting %q: %v", se.Setting, err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Error("the message shows a value")
			}
		})
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files were open before, %d are now", before, after)
	}
}

// No descriptor and no goroutine stays behind a process that was read to its end.
func TestNothingLeaks_real(t *testing.T) {
	run := func() {
		p := start(t, "exit-on-eof", withGrace(generous))
		ready(t, p.Stdout())
		p.Stop("enough")
		if _, err := io.Copy(io.Discard, p.Stdout()); err != nil {
			t.Error(err)
		}
		for _, ch := range []<-chan struct{}{p.left, p.stderrDone, p.done} {
			within(t, ch, "the end of a goroutine")
		}
		if _, err := p.stderr.from.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("stderr: %v", err)
		}
	}
	run() // opens what the runtime and the tests open once
	before := openFiles(t)
	for range 5 {
		run()
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files were open before, %d are now", before, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
