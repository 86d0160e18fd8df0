package mcpserver

import (
	"errors"
	"io"
	"os"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// Standard returns a connection to the client that has started this process, over its standard input and output.
// Nothing else may be written there. Close ends both directions and unblocks pending reads and writes; the descriptors
// stay open, because their owner may still use them.
//
// Pipes and sockets are read and written without blocking a thread each, which saves half the cost of a relayed call.
func Standard(in io.Reader, out io.Writer) jsonrpc.Stream {
	r, closeIn := standardInput(in)
	w, closeOut := standardOutput(out)
	return jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{
		Close: func() error { return errors.Join(closeOut(), closeIn()) },
	})
}

// standardInput returns a reader of in whose pending reads end with close. If in cannot be polled, a goroutine reads
// it: a read that blocks a thread cannot be interrupted, so that goroutine ends with the process.
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
