//go:build unix

package process

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// printCommand makes the test binary print its environment: see TestMain.
const printCommand = "__print"

// noHub is as much of a hub as a User needs.
type noHub struct {
	mu   sync.Mutex
	work sync.WaitGroup
}

func (h *noHub) Update(f func()) { h.mu.Lock(); defer h.mu.Unlock(); f() }
func (h *noHub) Go(f func())     { h.work.Go(f) }
func (h *noHub) Draining() bool  { return false }

// home is a user's directory, with a root of a file system beside it.
type home struct {
	*testing.T
	dir, root string
	hub       noHub
	life      context.Context
	contained *Containment
	answers   [][]string
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{T: t, dir: filepath.Join(dir, "me & 'ü"), root: filepath.Join(dir, "system"), life: t.Context(),
		contained: NewContainment(ContainmentOptions{})}
	for _, d := range []string{h.dir, h.root} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { h.hub.work.Wait(); h.contained.Close() })
	return h
}

// write makes a file of the home that can be run.
func (h *home) write(name, text string) string {
	h.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(h.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		h.Fatal(err)
	}
	return path
}

// user is a User whose shell runs rc in place of its startup files, and then the command that it is given.
func (h *home) user(rc string, change func(*UserOptions)) *User {
	h.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.Fatal(err)
	}
	shell := h.write("shell", "#!/bin/sh\n"+rc+"\nwhile [ \"$1\" != -c ]; do shift; done\neval \"$2\"\n")
	o := UserOptions{
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + h.dir, "SHELL=" + shell, "ONLY=hub", "MCPHUB_LOG=x",
			"GORACE=atexit_sleep_ms=0"},
		Printer: []string{exe, printCommand}, Hub: &h.hub, Life: h.life, Logger: slog.New(slog.DiscardHandler),
		Containment: h.contained, Root: h.root, Limit: time.Minute,
		Answered: func(environ []string) { h.answers = append(h.answers, environ) },
	}
	if change != nil {
		change(&o)
	}
	return NewUser(o)
}

const tool = "#!/bin/sh\nexit 0\n"

// Finding D13: a program that is not in the hub's PATH is found in that of the login shell, and has all of that PATH.
func TestFoundInThePathOfTheLoginShell_real(t *testing.T) {
	h := newHome(t)
	npx := h.write("node/bin/npxx", tool)
	u := h.user("echo hello; export PATH='"+strings.ReplaceAll(filepath.Dir(npx), "'", `'\''`)+
		"':/usr/bin LINES2='a\nb' HTTPS_PROXY=http://proxy.test", nil)
	if f := u.Find(t.Context(), Wanted{Command: "sh"}); f.From != "your PATH" || u.known() {
		t.Errorf("%+v; the shell was asked although nobody needs it", f)
	}
	f := u.Find(t.Context(), Wanted{Command: "npxx"})
	if f.Err != nil || f.Program.Path != npx || !strings.HasPrefix(f.From, "the PATH of your login shell (") {
		t.Fatalf("%+v", f)
	}
	want := "PATH=" + filepath.Dir(npx) + ":/usr/bin:/bin"
	if !slices.Contains(f.Env, want) || !slices.Contains(f.Env, "HTTPS_PROXY=http://proxy.test") {
		t.Errorf("%q", f.Env)
	}
	h.hub.work.Wait()
	if len(h.answers) != 1 || !slices.Contains(h.answers[0], "LINES2=a\nb") ||
		!slices.Contains(h.answers[0], "ONLY=hub") ||
		slices.ContainsFunc(h.answers[0], func(kv string) bool { return strings.HasPrefix(kv, "MCPHUB_RESOLVING") }) {
		t.Errorf("%q", h.answers)
	}
}

// On a desktop all servers start in the environment of the login shell, which is asked once.
func TestDesktop_real(t *testing.T) {
	h := newHome(t)
	u := h.user("echo x >> "+`"$HOME/asked"`+"; export TOKEN=from-shell SSL_CERT_FILE=/ca",
		func(o *UserOptions) { o.Desktop = true })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if f := u.Find(t.Context(), Wanted{Command: "sh"}); !slices.Contains(f.Env, "SSL_CERT_FILE=/ca") ||
				!strings.HasPrefix(f.From, "the PATH of your login shell") {
				t.Errorf("%+v", f)
			}
		})
	}
	all.Wait()
	if got := lookup(u.Base(t.Context()), "TOKEN"); got != "from-shell" {
		t.Error(got)
	}
	if text, err := os.ReadFile(filepath.Join(h.dir, "asked")); string(text) != "x\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Whatever the startup files of a shell do, asking it takes the limit at most and leaves no process. A daemon notes its
// process id in the home.
func TestHostileShell_real(t *testing.T) {
	for name, rc := range map[string]string{
		"never ends":        "sleep 1000",
		"prints for ever":   "yes",
		"100 MB":            "head -c 100000000 /dev/zero",
		"asks":              "read answer < /dev/tty; read answer && sleep 1000",
		"forks a daemon":    `(setsid sleep 1001 & echo $! > "$HOME/daemon") ; (sleep 1002 & echo $! >> "$HOME/daemon")`,
		"is deaf":           "trap '' TERM HUP INT; while :; do sleep 1; done",
		"fails":             "exit 3",
		"prints half":       "printf '<'; exec 1>&-",
		"closes everything": "exec 0<&- 1>&- 2>&-; sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			u := h.user(rc+" ; :", func(o *UserOptions) { o.Limit = 2 * time.Second })
			f := u.Find(t.Context(), Wanted{Command: "nowhere-to-be-found"})
			answers := name == "asks" || name == "forks a daemon"
			if f.Err == nil || !strings.Contains(f.Err.Error(), "the PATH of the login shell "+u.shell) {
				t.Errorf("%v", f.Err)
			}
			if (u.err == nil) != answers {
				t.Errorf("the shell's answer: %v", u.err)
			}
			h.hub.work.Wait()
			if runtime.GOOS != "linux" {
				return // a daemon of a group of its own is followed there alone
			}
			pids, _ := os.ReadFile(filepath.Join(h.dir, "daemon"))
			for _, pid := range strings.Fields(string(pids)) {
				state, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
				if err == nil && !strings.Contains(string(state), ") Z") {
					t.Errorf("%s is left: %s", pid, state)
				}
			}
		})
	}
}

// The folders of version and package managers are searched when neither PATH has the program; the folder that has it
// comes first in the PATH.
func TestPlaces_real(t *testing.T) {
	for name, tt := range map[string]struct {
		path  string
		setup func(h *home)
		env   string
	}{
		"nvm by prefix": {".nvm/versions/node/v20.11.1/bin", func(h *home) {
			h.write(".nvm/versions/node/v9.0.0/bin/npxx", tool)
			h.write(".nvm/versions/node/v20.9.0/bin/npxx", tool)
			h.write(".nvm/versions/node/v22.1.0/bin/npxx", tool)
			h.write(".nvm/alias/default", "20\n")
		}, ""},
		"nvm by aliases": {".nvm/versions/node/v18.2.0/bin", func(h *home) {
			h.write(".nvm/versions/node/v22.1.0/bin/npxx", tool)
			h.write(".nvm/alias/default", "lts/hydrogen\n")
			h.write(".nvm/alias/lts/hydrogen", "v18.2.0\n")
		}, ""},
		"nvm, alias to itself": {".nvm/versions/node/v22.1.0/bin", func(h *home) {
			h.write(".nvm/alias/default", "node\n")
		}, ""},
		"NVM_DIR": {"elsewhere/versions/node/v22.1.0/bin", nil, "NVM_DIR=HOME/elsewhere"},
		"fnm":     {".local/share/fnm/aliases/default/bin", nil, ""},
		"mise":    {".local/share/mise/shims", nil, ""}, "asdf": {".asdf/shims", nil, ""},
		"volta": {".volta/bin", nil, ""}, "volta elsewhere": {"v/bin", nil, "VOLTA_HOME=HOME/v"},
		"local": {".local/bin", nil, ""}, "pnpm": {".local/share/pnpm", nil, ""}, "bun": {".bun/bin", nil, ""},
		"deno": {".deno/bin", nil, ""}, "cargo": {".cargo/bin", nil, ""}, "go": {"go/bin", nil, ""},
		"homebrew": {"../system/opt/homebrew/bin", nil, ""}, "usr local": {"../system/usr/local/bin", nil, ""},
		"linuxbrew": {"../system/" + "home/linuxbrew/.linuxbrew/bin", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			if tt.setup != nil {
				tt.setup(h)
			}
			npx := h.write(tt.path+"/npxx", tool)
			u := h.user("", func(o *UserOptions) {
				o.Printer = nil
				o.Environ = append(o.Environ, strings.ReplaceAll(tt.env, "HOME/", h.dir+"/"))
			})
			f := u.Find(t.Context(), Wanted{Command: "npxx"})
			if f.Program.Path != npx || f.From != "the folder "+filepath.Dir(npx) ||
				!slices.Contains(f.Env, "PATH="+filepath.Dir(npx)+":/usr/bin:/bin") {
				t.Errorf("%+v", f)
			}
		})
	}
}

// The error about a program that is nowhere names where it was looked for, and is bounded. For an entry with a PATH of
// its own only that is searched, and the folder of an absolute command comes last in the PATH.
func TestNotFound_real(t *testing.T) {
	h := newHome(t)
	bin := filepath.Dir(h.write(".volta/bin/npxx", tool))
	u := h.user("export PATH="+strings.Repeat("/nowhere:", 200)+"/bin", nil)
	f := u.Find(t.Context(), Wanted{Command: "uvx"})
	for _, want := range []string{"was not found in the PATH of the server's environment (/usr/bin, /bin)", "login shell",
		"folders of version and package managers (" + bin, "install it"} {
		if f.Err == nil || !strings.Contains(f.Err.Error(), want) || len(f.Err.Error()) > 1000 {
			t.Errorf("%v: does not say %q", f.Err, want)
		}
	}
	path := "/usr/bin:/bin"
	if f := u.Find(t.Context(), Wanted{Command: "npxx", Env: map[string]*string{"PATH": &path}}); f.Err == nil ||
		strings.Contains(f.Err.Error(), "login shell") {
		t.Errorf("%+v", f)
	}
	f = u.Find(t.Context(), Wanted{Command: filepath.Join(bin, "npxx")})
	if f.Err != nil || !slices.Contains(f.Env, "PATH=/usr/bin:/bin:"+bin) {
		t.Errorf("%+v", f)
	}
	f = u.Find(t.Context(), Wanted{Command: filepath.Join(bin, "npxx"), Heir: Stranger})
	if f.Err != nil || !slices.Contains(f.Env, "PATH=/usr/bin:/bin") {
		t.Errorf("%+v", f)
	}
}

// A caller that may not wait gets what is known, and the shell's answer is there for the next one.
func TestLookWithoutWaiting_real(t *testing.T) {
	h := newHome(t)
	h.write("bin/npxx", tool)
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("not to wait"))
	u := h.user(`while [ ! -e "$HOME/go" ]; do sleep 0.01; done; export PATH="$HOME/bin:$PATH"`, nil)
	if f := u.Find(over, Wanted{Command: "npxx"}); f.Err == nil ||
		!strings.Contains(f.Err.Error(), "has not answered yet") {
		t.Errorf("%+v", f)
	}
	h.write("go", "")
	h.hub.work.Wait()
	if f := u.Find(over, Wanted{Command: "npxx"}); f.Err != nil {
		t.Error(f.Err)
	}
}

// The command survives the quotes of each shell that is known.
func TestShellArgs_real(t *testing.T) {
	command := []string{`/a b/it's "x"!`, "__environment"}
	for shell, want := range map[string]string{
		"bash": `'/a b/it'\''s "x"!' '__environment'`,
		"fish": `'/a b/it\'s "x"!' '__environment'`,
		"tcsh": `'/a b/it'\''s "x"\!' '__environment'`,
		"nu":   `^"/a b/it's \"x\"!" "__environment"`,
		"pwsh": `& '/a b/it''s "x"!' '__environment'`,
	} {
		if args := shellArgs("/bin/"+shell, command); args[len(args)-1] != want {
			t.Errorf("%s: %s", shell, args)
		}
	}
	for _, shell := range []string{"/bin/bash", "/bin/sh", "/bin/dash"} {
		if _, err := os.Stat(shell); err != nil {
			continue
		}
		h := newHome(t)
		u := h.user("", func(o *UserOptions) {
			o.Environ = append(o.Environ, "SHELL="+shell)
			h.write(".profile", "echo noise; export FROM_PROFILE=yes\n")
		})
		if u.wait(t.Context()); u.err != nil || lookup(u.answer, "FROM_PROFILE") != "yes" {
			t.Errorf("%s: %v %q", shell, u.err, u.answer)
		}
	}
}
