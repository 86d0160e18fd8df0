package mcpserver_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// TestStateOfAnotherClient: a requestState is valid only for the client that it was given to, not for another client
// with the same clientInfo, on another pipe or over HTTP. Forged and huge ones are refused like unknown ones.
func TestStateOfAnotherClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &handler{stop: map[string]context.CancelCauseFunc{}}
		s := newServer(h, mcpserver.Bounds{})
		d := &door{s.HTTP(mcpserver.Guard{}), s, h}
		owner, thief := connect(s), connect(s)
		say := func(w *wire, id, more string) string {
			_, _ = io.WriteString(w.in, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"one+two",`+
				modernMeta+more+"}}\n")
			<-time.After(50 * time.Millisecond) // the server collects questions for a moment before it sends a round
			synctest.Wait()
			return strings.Join(w.take(), "\n")
		}
		first := say(owner, "1", "")
		again := retry(t, first)
		over := retry(t, d.modern(t, "one+two", "", ""))
		for name, got := range map[string]string{
			"on another pipe": say(thief, "1", again), "over HTTP": d.modern(t, "one+two", "", again),
			"of HTTP on a pipe": say(thief, "2", over),
			"forged":            say(thief, "3", strings.ReplaceAll(again, `State":"`, `State":"A`)),
			"huge":              say(thief, "4", `,"requestState":"`+strings.Repeat("A", 1<<20)+`"`),
			"an object":         say(thief, "5", `,"requestState":{"a":1}`),
			"empty":             say(thief, "6", `,"requestState":""`),
			"null":              say(thief, "7", `,"requestState":null`),
			"huge, over HTTP":   d.modern(t, "one+two", "", `,"requestState":"`+strings.Repeat("A", 1<<20)+`"`),
		} {
			if !strings.Contains(got, `"error":{"code":-32602`) {
				t.Errorf("%s: %.300s", name, got)
			}
		}
		for name, got := range map[string]string{"the owner": say(owner, "2", again),
			"the owner over HTTP": d.modern(t, "one+two", "", over)} {
			if !strings.Contains(got, `"answers":[{"a":1.0},{"b":2}]`) {
				t.Errorf("%s: %s", name, got)
			}
		}
		s.Close(nil)
		for _, w := range []*wire{owner, thief} {
			<-w.ended
			_ = w.in.Close()
		}
	})
}
