package doctor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/demoserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

func remote(url string) Way {
	return Way{Transport: HTTP, HTTP: transport.HTTPOptions{URL: url}, OrSSE: true}
}

// A URL without a type is tried in the same order as in the hub: Streamable HTTP, then the older HTTP with SSE.
func TestUnknownTransport(t *testing.T) {
	t.Parallel()
	j, err := demoserver.OpenJournal(io.Discard, "")
	if err != nil {
		t.Fatal(err)
	}
	h := demoserver.NewHandler(demoserver.Options{}, j)
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		server.Close()
	})
	for path, want := range map[string]string{"/mcp": HTTP, "/sse": SSE} {
		r := examined(t, remote(server.URL+path), "", "{}", faketime.Long)
		if len(r.Findings) == 0 || slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Transport != want }) {
			t.Errorf("%s: not all is of %s: %+v", path, want, r.Findings)
		}
		holds(t, r, mcp.EraLegacy, map[string]Level{"start.time": measured, "capability.tools": Good})
	}
}

// If a server requires a sign-in, that is only a note: the examination ends with an error that says why.
func TestSignInIsWanted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you?", http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	r, err := Examine(context.Background(), Target{Name: "x", Way: remote(server.URL)},
		Options{Patience: faketime.Long, Connect: faketime.Long})
	if !errors.Is(err, ErrSignIn) || len(r.Findings) != 1 || levels(r, "")["start.signin"] != Note {
		t.Errorf("%v, %+v", err, r.Findings)
	}
}

// Lists other than tools are checked too: duplicate entries, and a list whose cursors repeat.
func TestOtherLists(t *testing.T) {
	t.Parallel()
	r := examined(t, sick(t, "lists"), "", "{}", faketime.Long)
	var seen []string
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Check, "list.") {
			seen = append(seen, string(f.Level)+" "+f.Check+": "+f.Seen)
		}
	}
	text := strings.Join(seen, "\n")
	for _, want := range []string{"good list.size: 2 resources, ",
		"improve list.duplicates: 1 resources have a URI that comes more than once: x:1",
		"mend list.read: the list of prompts could not be read: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "templates") {
		t.Errorf("templates are reported, and the server has none:\n%s", text)
	}
}

// What a server behind a URL answers at once is told as that, and what is to be done is not about processes.
func TestAnswersOverHTTP(t *testing.T) {
	t.Parallel()
	j, err := demoserver.OpenJournal(io.Discard, "")
	if err != nil {
		t.Fatal(err)
	}
	h := demoserver.NewHandler(demoserver.Options{}, j)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || strings.Contains(string(body), "mcphub/doctor") {
			http.Error(w, "no such method", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.Close()
		server.Close()
	})
	at := Way{Transport: HTTP, HTTP: transport.HTTPOptions{URL: server.URL + "/mcp"}}
	if seen, _ := what(examined(t, at, "", "{}", faketime.Long), "era.unknown"); strings.Contains(seen, "not answered") ||
		!strings.Contains(seen, "HTTP status 400") {
		t.Error(seen)
	}
	at.HTTP.URL = server.URL + "/nothing"
	if _, do := what(examined(t, at, "", "{}", faketime.Long), "start.ready"); !strings.Contains(do, "the address") ||
		strings.Contains(do, "stderr") {
		t.Errorf("of an address: %q", do)
	}
}
