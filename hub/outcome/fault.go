package outcome

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// Fault returns what is wrong with a server in words of the hub, since the text of err may quote the server.
func Fault(err error) string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if e, ok := errors.AsType[*event.Error](err); ok {
		say("%s", e.Reason)
	}
	ended := ""
	if e, ok := errors.AsType[*mcp.StartError](err); ok {
		say("at %s", e.Stage)
		ended = e.Ended
	}
	if e, ok := errors.AsType[*mcp.EndedError](err); ok {
		say("the connection ended")
		ended = e.Ended
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		say("JSON-RPC error %d", e.Code)
	}
	if e, ok := errors.AsType[*transport.HTTPError](err); ok && e.Status != 0 {
		say("HTTP status %d", e.Status)
	}
	for _, known := range []struct {
		err  error
		text string
	}{
		{jsonrpc.ErrStalled, "it has stopped reading"}, {io.EOF, "it closed its output"},
		{exec.ErrNotFound, "the command was not found"},
		{fs.ErrNotExist, "no such file"}, {fs.ErrPermission, "no permission"},
	} {
		if errors.Is(err, known.err) {
			say("%s", known.text)
		}
	}
	if how := process.WithoutStderr(ended); how != "" {
		say("%s", how)
	}
	return strings.Join(said, "; ")
}
