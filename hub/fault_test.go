package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// The fault of a server is told without the server's words: neither those of its stderr, nor those of its errors.
func TestFault(t *testing.T) {
	ended := "exit status 1" + process.QuoteStderr([]string{"Error: " + secret, "at " + secret}, 2, 1000)
	for want, err := range map[string]error{
		"": nil,
		"at open; the command was not found": &mcp.StartError{Stage: "open", Err: fmt.Errorf("%s: %w", secret,
			exec.ErrNotFound)},
		"at initialize; JSON-RPC error -32603; exit status 1": &mcp.StartError{Stage: "initialize", Ended: ended,
			Err: &jsonrpc.Error{Code: -32603, Message: secret}},
		"the connection ended; it closed its output; exit status 1": &mcp.EndedError{Err: io.EOF, Ended: ended},
		"the connection ended; it has stopped reading":              &mcp.EndedError{Err: jsonrpc.ErrStalled},
		"HTTP status 502": &transport.HTTPError{Status: 502, Text: secret},
		"SERVER_FAILED; no such file": &event.Error{Reason: event.ReasonServerFailed, Message: secret,
			Err: &fs.PathError{Op: "open", Path: secret, Err: fs.ErrNotExist}},
		"no permission": fmt.Errorf("%s: %w", secret, fs.ErrPermission),
	} {
		if got := faultOf(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	if got := faultOf(errors.New(secret)); got != "" {
		t.Errorf("what is unknown is told with %q", got)
	}
}

// A quote of a server is cut between two code points: half of one would be invalid UTF-8 in windows and logs.
func TestQuoteIsCutBetweenCodePoints(t *testing.T) {
	s := New(Options{}).bareServer("s")
	for n := range 4 {
		text := strings.Repeat("x", n) + strings.Repeat("😀", 2000)
		if got := s.quote(text); !utf8.ValidString(got) || !strings.HasPrefix(text, strings.TrimSuffix(got, "... (cut)")) {
			t.Errorf("after %d bytes: %q", n, got[len(got)-20:])
		}
	}
}

// Whatever finds its way into the bundle for a bug report, no known secret leaves with it.
func TestTraceBundleIsRedacted(t *testing.T) {
	h := New(Options{Version: "v-tok-1234"})
	defer h.Close(context.Background())
	h.redactor.Add("tok-1234")
	if got := h.TraceBundle(); got["version"] != "v-[redacted]" || got["os"] == nil {
		t.Errorf("%v", got)
	}
}
