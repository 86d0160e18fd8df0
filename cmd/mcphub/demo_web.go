package main

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

// webServer is a demo server behind a URL: a process of the demo, not of the hub.
type webServer struct {
	name   string
	cmd    *exec.Cmd
	input  io.Closer     // its end is the server's: also when the demo is killed nothing is left
	listen chan string   // gets the first line of its output; closed without when there was none
	ended  chan struct{} // closed when the process is gone
}

// startWeb spawns a demo server over HTTP, at a free port of this machine. The stage owns it, and its goroutine.
func (s *stage) startWeb(name string) error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	w := &webServer{
		name: name, listen: make(chan string, 1), ended: make(chan struct{}),
		cmd: exec.Command(executable, "demo-server", "--http", "127.0.0.1:0", "--until-eof", "--record", s.record(name)),
	}
	if w.input, err = w.cmd.StdinPipe(); err != nil {
		return err
	}
	output, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := w.cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
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
		_ = w.cmd.Wait() // how it ended is nobody's business; that it did is checked
	})
	return nil
}

// address waits until the server listens, and gives the URL of its Streamable HTTP.
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

// stopWebs ends the servers behind URLs and waits for them: until ctx ends in peace, and then with force.
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
