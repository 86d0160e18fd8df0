package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/mcphub-go/mcphub/internal/demoserver"
)

// webServer is a demo server that is reached by URL. Its process belongs to the demo, not to the hub.
type webServer struct {
	name   string
	cmd    *exec.Cmd
	input  io.Closer     // the server ends when it is closed, also if the demo is killed
	listen chan string   // gets the first line of its output, and is then closed
	ended  chan struct{} // closed when the process is gone
}

// startWeb spawns a demo server over HTTP, at a free port of this machine. The stage owns the server and its goroutine.
func (s *stage) startWeb(name string) {
	executable := got(os.Executable())
	w := &webServer{
		name: name, listen: make(chan string, 1), ended: make(chan struct{}),
		cmd: exec.Command(executable, "demo-server", "--http", "127.0.0.1:0", "--until-eof", "--record", s.record(name)),
	}
	w.input = got(w.cmd.StdinPipe())
	output := got(w.cmd.StdoutPipe())
	must(w.cmd.Start())
	s.webs = append(s.webs, w)
	s.seen(w.cmd.Process.Pid, name)
	s.group.Go(func() {
		defer close(w.ended)
		lines := bufio.NewReader(output)
		if line, err := lines.ReadString('\n'); err == nil {
			w.listen <- line
		}
		close(w.listen)
		_, _ = io.Copy(io.Discard, lines)
		_ = w.cmd.Wait() // only its end matters, and is checked, not how it ended
	})
}

// address waits until the server listens, and returns its URL for Streamable HTTP.
func (w *webServer) address(ctx context.Context) (string, error) {
	select {
	case line := <-w.listen:
		url, _, ok := strings.Cut(strings.TrimPrefix(line, "listening on "), demoserver.PathMCP+" ")
		if !ok {
			return "", fmt.Errorf("%s does not say where it listens but %q", w.name, line)
		}
		return url + demoserver.PathMCP, nil
	case <-ctx.Done():
		return "", fmt.Errorf("%s does not listen: %w", w.name, context.Cause(ctx))
	}
}

var errWebLeft = errors.New("a server over HTTP did not end with its input, and was killed")

// stopWebs ends the servers that are reached by URL, and waits for them. When ctx ends, it kills those that are left.
func (s *stage) stopWebs(ctx context.Context) (err error) {
	for _, w := range s.webs {
		_ = w.input.Close()
	}
	for _, w := range s.webs {
		select {
		case <-w.ended:
		case <-ctx.Done():
			err = errWebLeft
			_ = w.cmd.Process.Kill()
			<-w.ended
		}
	}
	s.webs = nil
	return err
}
