package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { moreModes["hub-hidden"], moreModes["hub-open"] = playHub(true), playHub(false) }

// playHub plays a hub with one server that prints the environment of the hub from /proc.
func playHub(hidden bool) func() int {
	return func() int {
		if hidden {
			if err := Hide(); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		c := NewContainment(ContainmentOptions{})
		defer c.Close()
		p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "tr '\\0' '\\n' </proc/$PPID/environ; echo end; cat"},
			Env: []string{"PATH=/usr/bin:/bin"}, Containment: c})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		var text strings.Builder
		for b := make([]byte, 4<<10); !strings.Contains(text.String(), "end\n"); {
			n, err := p.Stdout().Read(b)
			if text.Write(b[:n]); err != nil {
				break
			}
		}
		// The hub still finds its servers by their markers, and can still list its own descriptors.
		found, _, err := marked(hubNeedle(c.marker), nil)
		_, fdErr := os.ReadDir("/proc/self/fd")
		fmt.Printf("marked %d %v %v\n%s", len(found), err, fdErr, text.String())
		go p.Stop("the test is over")
		_, _ = io.Copy(io.Discard, p.Stdout())
		return 0
	}
}

// A server does not read the hub's environment, in which an editor's tokens may be, by /proc/PPID/environ. Finding C5.
func TestServersCannotReadTheHub_real(t *testing.T) {
	// Root reads everything, so the hub is played by another user, who has to be able to read the program.
	dir, err := os.MkdirTemp("", "hidden")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "program")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for mode, readable := range map[string]bool{"hub-hidden": false, "hub-open": true} {
		cmd := exec.Command(program)
		cmd.Dir, cmd.Env = "/", []string{childMode + "=" + mode, "EDITOR_TOKEN=tok-of-editor", "PATH=/usr/bin:/bin"}
		if unix.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "marked 0 ") || !strings.Contains(string(out), " <nil> <nil>\n") ||
			!strings.Contains(string(out), "end\n") ||
			strings.Contains(string(out), "tok-of-editor") != readable {
			t.Errorf("%s: %v\n%s", mode, err, out)
		}
	}
}
