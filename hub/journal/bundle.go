package journal

import (
	"path/filepath"
	"runtime"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Bundle is what a bug report needs besides the timelines.
type Bundle struct {
	Version, HubID        string
	Began                 time.Time
	Servers               []BundledServer
	Problems              []event.ConfigProblem // those that belong to no single server
	OpenRequests, Windows int
	Flight                Flight
}

// BundledServer is one server for a bug report.
type BundledServer struct {
	event.ServerInfo
	Fault     string // what is wrong with the server, in words of the hub
	Connected bool
}

// Members returns the members of a JSON object. They hold no arguments, environments, headers or URLs with queries, and
// no text of a server.
func (b *Bundle) Members() map[string]any {
	servers := make([]map[string]any, 0, len(b.Servers))
	for i := range b.Servers {
		servers = append(servers, b.Servers[i].members())
	}
	return map[string]any{
		"version": b.Version, "goVersion": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "hubId": b.HubID,
		"uptimeSeconds": time.Since(b.Began).Round(time.Millisecond).Seconds(),
		"servers":       servers, "problems": problemMembers(b.Problems), "openRequests": b.OpenRequests,
		"windows": b.Windows, "core": b.Flight.Lines(),
	}
}

func (s *BundledServer) members() map[string]any {
	m := map[string]any{"name": s.Name, "state": s.State.String(), "problems": problemMembers(s.Problems)}
	add := func(name string, value any, there bool) {
		if there {
			m[name] = value
		}
	}
	add("dialect", s.Dialect, s.Dialect != "")
	add("scope", s.Scope, s.Scope != "")
	add("transport", s.Transport.String(), s.Transport != 0)
	add("era", s.Era.String(), s.Era != 0)
	add("revision", s.Revision, s.Revision != "")
	add("url", s.URL, s.URL != "")
	add("command", filepath.Base(s.Command), s.Command != "")
	add("failures", s.Failures, s.Failures != 0)
	add("lastExit", s.LastExit, s.LastExit != "")
	add("lastError", s.Fault, s.Fault != "")
	c := s.Counters
	add("counters", map[string]uint64{
		"lateResponses": c.LateResponses, "unknownResponses": c.UnknownResponses, "badLines": c.BadLines,
		"unknownCancels":   c.UnknownCancels,
		"malformedCancels": c.MalformedCancels, "suppressedResponses": c.SuppressedResponses,
		"droppedNotifications": c.DroppedNotifications,
	}, s.Connected)
	return m
}

func problemMembers(problems []event.ConfigProblem) []map[string]any {
	list := make([]map[string]any, 0, len(problems))
	for _, p := range problems {
		list = append(list, map[string]any{
			"file": filepath.Base(p.File), "line": p.Line, "column": p.Column, "server": p.Server, "key": p.Key,
			"message": p.Message, "fatal": p.Fatal,
		})
	}
	return list
}
