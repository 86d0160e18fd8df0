//go:build unix

package peers

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestServersEndWithTheirTest: when a test has ended, no process of its server's process group is left.
func TestServersEndWithTheirTest(t *testing.T) {
	all := map[string]func(testing.TB) *Server{"everything": EverythingHTTP}
	for name, open := range sdkServers {
		all[name] = open
	}
	for name, open := range all {
		var group int
		t.Run(name, func(t *testing.T) { group = open(t).PID() })
		if err := syscall.Kill(-group, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: the group %d is still there: %v", name, group, err)
		}
	}
}

// TestServersEndWithTheirInput: a server exits when its stdin ends, as it does when the test process is killed.
func TestServersEndWithTheirInput(t *testing.T) {
	http := func(s SDK) func() *exec.Cmd {
		return func() *exec.Cmd {
			cmd, args := s.Stdio(t)
			return exec.Command(cmd, append(args[:len(args)-1], "http")...)
		}
	}
	commands := map[string]func() *exec.Cmd{
		"TypeScript 1": http(TypeScript1), "TypeScript 2": http(TypeScript2), "Go": http(GoSDK),
		"everything": func() *exec.Cmd { return exec.Command(node(t), "--import", endWithInput, everythingScript(t), "sse") },
	}
	for name, command := range commands {
		t.Run(name, func(t *testing.T) {
			cmd := command() // its stdin is /dev/null, which is at its end from the start
			cmd.Env = append(os.Environ(), "PORT=0")
			ownGroup(cmd)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s := &Server{cmd: cmd, ended: make(chan struct{}), changed: make(chan struct{})}
			var err error // written before s.ended is closed
			go func() {
				err = cmd.Wait()
				close(s.ended)
			}()
			t.Cleanup(s.Kill) // which waits for the goroutine
			s.await(func() bool { return false })
			select {
			case <-s.ended:
				if err != nil {
					t.Errorf("the server ended with %v", err)
				}
			default:
				t.Error("the server did not exit")
			}
		})
	}
}

// TestKilledServerIsGone: Kill kills the server, so its connections break at once. Tests of a crash use it.
func TestKilledServerIsGone(t *testing.T) {
	s := TypeScript1.HTTP(t)
	r := legacy(t, s.URL)
	call := r.post(slowCall)
	call.until(isMethod("notifications/progress"))
	s.Kill()
	for {
		if _, data := call.tryEvent(); data == "" {
			break
		}
	}
	if a, err := http.Get(s.URL); err == nil {
		t.Errorf("the server still answers: %s", a.Status)
		_ = a.Body.Close()
	}
}

// TestStdio_nightly: the same servers work over stdio, with the journal in a file.
func TestStdio_nightly(t *testing.T) {
	for name, command := range map[string]func(testing.TB) (string, []string){
		"TypeScript 1": TypeScript1.Stdio, "TypeScript 2": TypeScript2.Stdio, "Go": GoSDK.Stdio,
	} {
		t.Run(name, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "journal.jsonl")
			path, args := command(t)
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Env = append(os.Environ(), JournalVariable+"="+journal)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			x := lineExchange(t, out)
			for _, line := range []string{
				initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{"ms":20,"steps":2}}}`,
			} {
				if _, err := in.Write([]byte(line + "\n")); err != nil {
					t.Fatal(err)
				}
			}
			if got := string(x.until(isAnswerTo("2")).Result); !strings.Contains(got, "done") {
				t.Errorf("result: %s", got)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the server's end: %v", err)
			}
			var seen []string
			for _, e := range ReadJournal(t, journal) {
				seen = append(seen, e.Event+" "+e.Tool)
			}
			if got := strings.Join(seen, ", "); got != "started slow, finished slow" {
				t.Errorf("the journal says %q", got)
			}
		})
	}
}
