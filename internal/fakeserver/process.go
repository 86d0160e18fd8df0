package fakeserver

import (
	"context"
	"errors"
	"io"
)

// ErrKilled is the cause with which [Process.Kill] ends the connection.
var ErrKilled = errors.New("fakeserver: killed")

// Process is a served connection over two in-memory pipes. To the client, they look like the pipes of a child process.
type Process struct {
	Stdin  io.WriteCloser // the client writes here; closing it ends the server's input
	Stdout io.ReadCloser  // the client reads here; it ends when the server does

	kill context.CancelCauseFunc
	done chan struct{}
	err  error // written before done is closed
}

// Start serves one connection in the background. It ends when ctx ends, Stdin is closed or the server disconnects; the
// caller must then call [Process.Wait]. A write to Stdin blocks until the server has read it: io.Pipe has no buffer.
func (s *Server) Start(ctx context.Context) *Process {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, kill := context.WithCancelCause(ctx)
	p := &Process{Stdin: inW, Stdout: outR, kill: kill, done: make(chan struct{})}
	c := s.pipe(ctx, inR, outW)
	go func() {
		defer close(p.done)
		p.err = c.serve(inR)
		kill(nil)
	}()
	return p
}

// Kill ends the connection at once. It does not wait.
func (p *Process) Kill() { p.kill(ErrKilled) }

// End closes the input, ends the connection, and waits until the server has ended, as the close of a connection to a
// process does.
func (p *Process) End() error {
	_ = p.Stdin.Close()
	p.Kill()
	<-p.done
	return nil
}

// Done returns a channel that is closed when the server and all its goroutines have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until Done is closed and returns what [Server.Serve] returned.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}
