// Package fakeregistry is a registry of MCP servers for tests, by the API v0.1 of the official one.
package fakeregistry

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Entry is one version of a server.
type Entry struct {
	// Server is the text of a server.json.
	Server string
	// Status and Message are what the registry reports about it; "" means active.
	Status, Message string
}

// Registry answers over a socket until the test ends.
type Registry struct {
	// URL is the address of the registry.
	URL string

	mu       sync.Mutex // guards below
	entries  []Entry
	files    map[string][]byte
	instead  http.HandlerFunc
	requests []string
}

// Open serves entries. Of entries with one name the last one is the latest version.
func Open(t testing.TB, entries ...Entry) *Registry {
	t.Helper()
	r := &Registry{entries: entries, files: map[string][]byte{}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.URL = s.URL
	return r
}

// Add adds entries to the registry.
func (r *Registry) Add(entries ...Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, entries...)
}

// Serve serves a file at a path.
func (r *Registry) Serve(path string, content []byte) (address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[path] = content
	return r.URL + path
}

// Instead makes h answer every request from now on.
func (r *Registry) Instead(h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instead = h
}

// Requests returns the received requests, each as path and query.
func (r *Registry) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.requests...)
}

// ServeHTTP implements http.Handler.
func (r *Registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	r.requests = append(r.requests, q.RequestURI)
	entries, file, isFile, instead := append([]Entry(nil), r.entries...), r.files[q.URL.Path], false, r.instead
	_, isFile = r.files[q.URL.Path]
	r.mu.Unlock()
	switch rest, isAPI := strings.CutPrefix(q.URL.EscapedPath(), "/v0.1/servers"); {
	case instead != nil:
		instead(w, q)
	case isFile:
		_, _ = w.Write(file)
	case !isAPI:
		http.NotFound(w, q)
	case rest == "":
		search(w, q.URL.Query(), entries)
	default:
		parts := strings.Split(strings.TrimPrefix(rest, "/"), "/")
		if len(parts) == 3 && parts[1] == "versions" {
			name, _ := url.PathUnescape(parts[0])
			version(w, entries, name, parts[2])
			return
		}
		http.NotFound(w, q)
	}
}

func (e Entry) field(name string) string {
	var m map[string]json.RawMessage
	var s string
	_ = json.Unmarshal([]byte(e.Server), &m)
	_ = json.Unmarshal(m[name], &s)
	return s
}

func (e Entry) wrapped(latest bool) map[string]any {
	status := e.Status
	if status == "" {
		status = "active"
	}
	return map[string]any{"server": json.RawMessage(e.Server), "_meta": map[string]any{
		"io.modelcontextprotocol.registry/official": map[string]any{"status": status, "statusMessage": e.Message,
			"publishedAt": "2026-01-02T03:04:05Z", "isLatest": latest}}}
}

func search(w http.ResponseWriter, q url.Values, entries []Entry) {
	latest := map[string]int{}
	for i, e := range entries {
		latest[e.field("name")] = i
	}
	from, _ := strconv.Atoi(q.Get("cursor"))
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil {
		limit = 30
	}
	servers := []any{}
	next := ""
	for i, e := range entries {
		name := e.field("name")
		if i < from || latest[name] != i && q.Get("version") == "latest" ||
			!strings.Contains(strings.ToLower(name+" "+e.field("description")), strings.ToLower(q.Get("search"))) {
			continue
		}
		if len(servers) == limit {
			next = strconv.Itoa(i)
			break
		}
		servers = append(servers, e.wrapped(latest[name] == i))
	}
	answer(w, map[string]any{"servers": servers, "metadata": map[string]any{"count": len(servers), "nextCursor": next}})
}

func version(w http.ResponseWriter, entries []Entry, name, version string) {
	for i := len(entries) - 1; i >= 0; i-- {
		if e := entries[i]; e.field("name") == name && (version == "latest" || e.field("version") == version) {
			answer(w, e.wrapped(true))
			return
		}
	}
	http.Error(w, `{"title":"Not Found","status":404}`, http.StatusNotFound)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
