package matrix

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

var errKilled = errors.New("killed by the hub")

// spawn serves the fake server over two in-memory pipes, as if the hub had started it as a process, and records the
// server's side of them. Lines to the server begin with ">". The goroutine of the server ends when the hub closes the
// link or kills the process.
func spawn(fake *fakeserver.Server, t *tape) *mcp.Link {
	in := newPipe()
	outR, outW := io.Pipe()
	ctx, kill := context.WithCancelCause(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = fake.Serve(ctx, &tapedInput{pipe: in, tape: t}, &tapedOutput{PipeWriter: outW, tape: t})
		kill(nil)
	}()
	return &mcp.Link{
		Conn: &pipeConn{in: in, LineConn: jsonrpc.NewLineConn(outR, in, jsonrpc.LineConnOptions{Close: func() error {
			_ = in.Close()
			<-served
			return outR.Close()
		}})},
		Kill: func(string) { kill(errKilled) },
		Exit: func() string { return "" }, // it stands for a process
	}
}

// pipe is an in-memory pipe with a buffer without limit. Like a pipe of the operating system it takes a write at once,
// and its reader gets what was written before the end.
type pipe struct {
	mu     sync.Mutex // guards what follows
	more   sync.Cond  // on mu
	buf    []byte
	closed bool
}

func newPipe() *pipe {
	p := &pipe{}
	p.more.L = &p.mu
	return p
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, io.ErrClosedPipe
	}
	p.buf = append(p.buf, b...)
	p.more.Signal()
	return len(b), nil
}

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.buf) == 0 && !p.closed {
		p.more.Wait()
	}
	if len(p.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.buf)
	p.buf = p.buf[n:]
	return n, nil
}

// Close ends the pipe. The reader first gets what was written before. Either side may call it.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.more.Signal()
	return nil
}

// pipeConn writes in the goroutine of the caller, as a LineConn on a pipe of the operating system does.
type pipeConn struct {
	*jsonrpc.LineConn
	in *pipe
}

// TryWrite implements jsonrpc.Stream.
func (c *pipeConn) TryWrite(line []byte) (int, error) { return c.in.Write(line) }

type tapedInput struct {
	*pipe
	tape *tape
	part []byte // an incomplete line; used only by the reading goroutine
}

func (r *tapedInput) Read(b []byte) (int, error) {
	n, err := r.pipe.Read(b)
	r.part = append(r.part, b[:n]...)
	for {
		line, rest, ok := bytes.Cut(r.part, []byte("\n"))
		if !ok {
			break
		}
		r.tape.line("", "> %s", line)
		r.part = rest
	}
	if err == io.EOF {
		r.tape.line("", "> end")
	}
	return n, err
}

type tapedOutput struct {
	*io.PipeWriter
	tape *tape
	once sync.Once
}

func (w *tapedOutput) Write(b []byte) (int, error) {
	w.tape.line("", "< %s", bytes.TrimSuffix(b, []byte("\n")))
	return w.PipeWriter.Write(b)
}

func (w *tapedOutput) Close() error {
	w.once.Do(func() { w.tape.line("", "< end") })
	return w.PipeWriter.Close()
}
