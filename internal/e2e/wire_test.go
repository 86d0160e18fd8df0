//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// maxRecorded is how much of a line is recorded.
const maxRecorded = 64 << 10

// beProxy is the process `proxy FILE COMMAND ARGS...` between the hub and a server, which records every line of both
// directions. A line is recorded before it is passed on, so what caused a line always stands above it.
func beProxy(args []string) int {
	record, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return proxyFailed(err)
	}
	server := exec.Command(args[1], args[2:]...)
	server.Stderr = os.Stderr
	in, err1 := server.StdinPipe()
	out, err2 := server.StdoutPipe()
	if err := errors.Join(err1, err2, server.Start()); err != nil {
		return proxyFailed(err)
	}
	var mu sync.Mutex // makes lines whole
	tee := func(mark string, from io.Reader, to io.Writer) {
		for r := bufio.NewReader(from); ; {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				mu.Lock()
				_, _ = fmt.Fprintf(record, "%s %s\n", mark, bytes.TrimRight(line[:min(len(line), maxRecorded)], "\r\n"))
				mu.Unlock()
				if _, err := to.Write(line); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
	go func() { // ends with the process
		tee(">", os.Stdin, in)
		_ = in.Close()
	}()
	tee("<", out, os.Stdout)
	_ = server.Wait() // the exit status is in ProcessState
	return max(server.ProcessState.ExitCode(), 0)
}

func proxyFailed(err error) int {
	fmt.Fprintln(os.Stderr, "proxy:", err)
	return 1
}

// wire is what a proxy has recorded.
type wire struct {
	t    *testing.T
	path string
	from int // lines before it are left out
}

// forget leaves out all lines so far: those of a connection that is over.
func (w *wire) forget() { w.from += len(w.lines()) }

// proxied puts a recorder between the hub and a server.
func (p *place) proxied(e entry) (entry, *wire) {
	w := &wire{t: p.t, path: p.file("wire.log")}
	e.Args = append([]string{"proxy", w.path, e.Command}, e.Args...)
	e.Command, e.Env = p.peer, atOnce
	return e, w
}

// message is one line of the wire.
type message struct {
	toServer bool
	raw      string
	ID       json.RawMessage
	Method   string
	Params   struct {
		RequestID json.RawMessage
		Reason    *string
		Name      string
	}
	Result json.RawMessage
	Error  *struct {
		Code    int64
		Message string
	}
}

func (m message) String() string {
	if m.toServer {
		return "> " + m.raw
	}
	return "< " + m.raw
}

// lines returns all complete lines so far, but for those that were forgotten.
func (w *wire) lines() []message {
	w.t.Helper()
	text, err := os.ReadFile(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // there is none before the server has started
		w.t.Fatal(err)
	}
	var all []message
	for line := range strings.Lines(string(text)) {
		mark, raw, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !strings.HasSuffix(line, "\n") {
			continue
		}
		m := message{toServer: mark == ">", raw: raw}
		_ = json.Unmarshal([]byte(raw), &m) // a line that is no message has no method and no id
		all = append(all, m)
	}
	return all[min(w.from, len(all)):]
}

// all returns the lines that match.
func (w *wire) all(match func(message) bool) []message {
	w.t.Helper()
	var found []message
	for _, m := range w.lines() {
		if match(m) {
			found = append(found, m)
		}
	}
	return found
}

// one returns the line that matches, and fails unless there is exactly one.
func (w *wire) one(what string, match func(message) bool) message {
	w.t.Helper()
	found := w.all(match)
	if len(found) != 1 {
		w.t.Fatalf("%d times on the wire, not once: %s\n%v", len(found), what, found)
	}
	return found[0]
}

// await waits until a line matches, and returns the first.
func (w *wire) await(what string, match func(message) bool) message {
	w.t.Helper()
	var found []message
	until(w.t, what+" is on the wire", func() bool { found = w.all(match); return len(found) > 0 })
	return found[0]
}

// callOf matches the request of a tool call.
func callOf(tool string) func(message) bool {
	return func(m message) bool { return m.toServer && m.Method == "tools/call" && m.Params.Name == tool }
}

// asked matches a request of the server.
func asked(method string) func(message) bool {
	return func(m message) bool { return !m.toServer && m.Method == method && m.ID != nil }
}

// isCancel matches every cancel in a direction.
func isCancel(toServer bool) func(message) bool {
	return func(m message) bool { return m.toServer == toServer && m.Method == "notifications/cancelled" }
}

// answerTo matches the answer to a request of the other side.
func answerTo(m message) func(message) bool {
	return func(a message) bool {
		return a.toServer != m.toServer && a.Method == "" && bytes.Equal(a.ID, m.ID) && (a.Result != nil || a.Error != nil)
	}
}

// cancelledOnce checks that the hub sent one cancel in all, that it names this request, and that it says why.
func (w *wire) cancelledOnce(id, reason string) {
	w.t.Helper()
	w.cancelled(id, reason)
	w.one("a cancel of the hub", isCancel(true))
}

// cancelled checks that the hub sent one cancel of the request with this id, and that it says why.
func (w *wire) cancelled(id, reason string) {
	w.t.Helper()
	cancel := w.one("a cancel of "+id, func(m message) bool {
		return isCancel(true)(m) && string(m.Params.RequestID) == id
	})
	if cancel.Params.Reason == nil || *cancel.Params.Reason != reason {
		w.t.Errorf("the cancel of %s was %v; want reason %q", id, cancel, reason)
	}
}
