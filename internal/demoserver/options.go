package demoserver

import (
	"io"
	"os"
)

// Name is the name under which the server introduces itself.
const Name = "mcphub-demo"

// Options configures the server.
type Options struct {
	In      io.ReadCloser  // messages of the client; closed by Run once it serves
	Out     io.WriteCloser // messages to the client; closed by Run once it serves
	Log     io.Writer      // one line for each event, without arguments; nil discards
	Record  string         // path of a file to which a JSON line for each event is appended; "" for none
	Version string         // self-reported; "" is "dev"
	TempDir string         // for process_file; "" is the system's
	Exit    func(code int) // called by the tool crash; nil is os.Exit
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	if o.Exit == nil {
		o.Exit = os.Exit
	}
	return o
}
