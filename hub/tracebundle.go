package hub

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// TraceBundle gives what belongs into a bug report besides the timelines: JSON members of one object. It holds no
// arguments, environment, headers and URLs with queries, and no words of a server; whatever secret got into it all the
// same is taken out at the end.
func (h *Hub) TraceBundle() map[string]any { return h.redactor.Members(h.about()) }

// about is that before secrets are taken out.
func (h *Hub) about() map[string]any {
	defer h.lock().unlock()
	servers := make([]map[string]any, 0, len(h.servers))
	for _, s := range h.servers {
		servers = append(servers, h.bundled(s))
	}
	return map[string]any{
		"version": h.version, "goVersion": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "hubId": h.id,
		"uptimeSeconds": time.Since(h.record.began).Round(time.Millisecond).Seconds(),
		"servers":       servers, "problems": bundledProblems(h.problems), "openRequests": len(h.requests),
		"windows": len(h.windows),
	}
}

// bundled is one server for a bug report. h.mu is held.
func (h *Hub) bundled(s *server) map[string]any {
	i := s.info()
	m := map[string]any{"name": i.Name, "state": i.State.String(), "problems": bundledProblems(i.Problems)}
	add := func(name string, value any, there bool) {
		if there {
			m[name] = value
		}
	}
	add("dialect", i.Dialect, i.Dialect != "")
	add("scope", i.Scope, i.Scope != "")
	add("transport", i.Transport.String(), i.Transport != 0)
	add("era", i.Era.String(), i.Era != 0)
	add("revision", i.Revision, i.Revision != "")
	add("url", i.URL, i.URL != "")
	add("command", filepath.Base(i.Command), i.Command != "")
	add("failures", i.Failures, i.Failures != 0)
	add("lastExit", i.LastExit, i.LastExit != "")
	add("lastError", s.fault, s.fault != "")
	if s.conn != nil {
		c := i.Counters
		m["counters"] = map[string]uint64{
			"lateResponses": c.LateResponses, "unknownResponses": c.UnknownResponses, "badLines": c.BadLines,
			"unknownCancels":   c.UnknownCancels,
			"malformedCancels": c.MalformedCancels, "suppressedResponses": c.SuppressedResponses,
			"droppedNotifications": c.DroppedNotifications,
		}
	}
	return m
}

func bundledProblems(problems []event.ConfigProblem) []map[string]any {
	list := make([]map[string]any, 0, len(problems))
	for _, p := range problems {
		list = append(list, map[string]any{
			"file": filepath.Base(p.File), "line": p.Line, "column": p.Column, "server": p.Server, "key": p.Key,
			"message": p.Message, "fatal": p.Fatal,
		})
	}
	return list
}

var ()

// faultOf says in words of the hub's own what is wrong with a server: the text of err may quote it.
func faultOf(err error) string {
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
	if how, _, _ := strings.Cut(ended, "last lines on stderr"); strings.TrimRight(how, "; ") != "" {
		say("%s", strings.TrimRight(how, "; "))
	}
	return strings.Join(said, "; ")
}
