package mcpserver

import (
	"errors"
	"io"
	"os"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// Standard is the connection to the client that has started this process, over its standard input and output. Nothing
// else may be written there. Close ends both directions and wakes who waits in them; the descriptors stay open, as
// whoever has made them may still want them.
//
// Where both ends are pipes or sockets they are read and written without blocking a thread each, which is half of what
// a relayed call costs.
func Standard(in io.Reader, out io.Writer) jsonrpc.Conn {
	r, closeIn := standardInput(in)
	w, closeOut := standardOutput(out)
	return jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{
		Close: func() error { return errors.Join(closeOut(), closeIn()) },
	})
}

// standardInput gives a reader of in whose reads end with close. A read that blocks a thread cannot be given up, so a
// goroutine that ends with the process does it where nothing better is to be had.
func standardInput(in io.Reader) (r io.Reader, close func() error) {
	if f, ok := in.(*os.File); ok {
		if own, close, ok := withoutBlocking(f, os.O_RDONLY); ok {
			return own, close
		}
	}
	piped, pump := io.Pipe()
	go func() {
		_, err := io.Copy(pump, in)
		_ = pump.CloseWithError(err)
	}()
	return piped, piped.Close
}

func standardOutput(out io.Writer) (w io.Writer, close func() error) {
	if f, ok := out.(*os.File); ok {
		if own, close, ok := withoutBlocking(f, os.O_WRONLY); ok {
			return own, close
		}
	}
	return out, func() error { return nil }
}
