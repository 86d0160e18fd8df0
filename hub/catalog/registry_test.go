package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
	"github.com/mcphub-go/mcphub/internal/fakeregistry"
)

func entry(name, version string) fakeregistry.Entry {
	return fakeregistry.Entry{Server: fmt.Sprintf(`{"name": %q, "description": "Weather for all", "version": %q,
		"title": "Weather", "websiteUrl": "https://weather.example", "repository": {"url": "javascript:alert(1)"},
		"packages": [{"registryType": "npm", "identifier": "weather", "version": "1.0.0"}],
		"remotes": [{"type": "sse", "url": "https://weather.example/sse"}]}`, name, version)}
}

// A search asks for the latest versions alone, page by page; what the registry has deleted is not shown.
func TestSearch(t *testing.T) {
	r := fakeregistry.Open(t, entry("io.example/a", "1.0.0"), entry("io.example/a", "2.0.0"),
		entry("io.example/b", "1.0.0"), entry("io.example/c", "1.0.0"), entry("org.other/d", "1.0.0"))
	gone := entry("io.example/bad", "1.0.0")
	gone.Status, gone.Message = "deleted", "malware"
	old := entry("io.example/old", "1.0.0")
	old.Status, old.Message = "deprecated", "use c"
	r.Add(gone, old)
	c := (&RegistryClient{})
	var names []string
	q := Query{Text: "IO.example", Size: 2}
	for {
		page, err := c.Search(t.Context(), r.URL+"/v0.1/", q)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Servers {
			names = append(names, s.Name+" "+s.Version+" "+string(s.Status)+" "+s.StatusMessage)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	want := []string{"io.example/a 2.0.0 active ", "io.example/b 1.0.0 active ", "io.example/c 1.0.0 active ",
		"io.example/old 1.0.0 deprecated use c"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	page, err := c.Search(t.Context(), r.URL, Query{Text: "org.other"})
	if err != nil || len(page.Servers) != 1 {
		t.Fatal(page, err)
	}
	published := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := Server{Name: "org.other/d", Title: "Weather", Description: "Weather for all", Version: "1.0.0", Status: Active,
		Website: "https://weather.example", Published: published, Kinds: []string{"npm", "remote"}}
	if diff := cmp.Diff(s, page.Servers[0]); diff != "" || s.Publisher() != "org.other" {
		t.Error(diff)
	}
	if first := r.Requests()[0]; first != "/v0.1/servers?limit=2&search=IO.example&version=latest" {
		t.Error(first)
	}
}

func TestServerNotFound(t *testing.T) {
	r := fakeregistry.Open(t, entry("io.example/a", "1.0.0"))
	c := (&RegistryClient{})
	for _, name := range []string{"io.example/none", "a", "io.example/../x", "io.example/a?x"} {
		_, _, err := c.Server(t.Context(), r.URL, name, "")
		if event.AsError(err).Reason != event.ReasonRegistryServerNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, list, err := c.Server(t.Context(), r.URL, "io.example/a", "1.0.0")
	if err != nil || s.Version != "1.0.0" || len(list) != 2 {
		t.Error(s, list, err)
	}
	if got := r.Requests(); got[len(got)-1] != "/v0.1/servers/io.example%2Fa/versions/1.0.0" {
		t.Error(got)
	}
}

// A registry that answers with another version, or another server, than was asked for is not taken at its word.
func TestOtherServerOrVersion(t *testing.T) {
	r := fakeregistry.Open(t)
	r.Instead(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"server": {"name": "io.example/a", "version": "6.6.6"}}`)
	})
	c := (&RegistryClient{})
	for _, asked := range [][2]string{{"io.example/a", "1.0.0"}, {"io.example/b", ""}} {
		_, _, err := c.Server(t.Context(), r.URL, asked[0], asked[1])
		if event.AsError(err).Reason != event.ReasonRegistryFailed {
			t.Errorf("%v: %v", asked, err)
		}
	}
	if _, _, err := c.Server(t.Context(), r.URL, "io.example/a", ""); err != nil {
		t.Error(err)
	}
}

func TestAddresses(t *testing.T) {
	c := (&RegistryClient{RoundTripper: refusing{t}})
	for base, reason := range map[string]string{
		"": event.ReasonRegistryNotSet, "registry.example": event.ReasonRegistryAddress,
		"ftp://registry.example": event.ReasonRegistryAddress, "https://u:p@registry.example": event.ReasonRegistryAddress,
		"https://registry.example/?x": event.ReasonRegistryAddress,
		"https://registry.example/#x": event.ReasonRegistryAddress, "file:///etc/passwd": event.ReasonRegistryAddress,
		"http://registry.example": event.ReasonRegistryFailed, "http://10.0.0.1": event.ReasonRegistryFailed,
		"https://" + strings.Repeat("x", 3000): event.ReasonRegistryAddress,
	} {
		if _, err := c.Search(t.Context(), base, Query{}); event.AsError(err).Reason != reason {
			t.Errorf("%.80s: %v", base, err)
		}
	}
}

// refusing fails the test when something is sent.
type refusing struct{ t *testing.T }

func (r refusing) RoundTrip(q *http.Request) (*http.Response, error) {
	r.t.Errorf("%s was asked", q.URL)
	return nil, io.EOF
}

// Whatever a registry answers gives an error that says so, or a page within the bounds, and leads to no other address.
func TestHostileAnswers(t *testing.T) {
	many := `{"servers": [` + strings.TrimSuffix(strings.Repeat(`{},`, 20_000), ",") + `]}`
	deep := `{"servers": ` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `}`
	full := `{"servers": [` + strings.TrimSuffix(strings.Repeat(
		`{"server": {"name": "a/b", "version": "1"}},`, 10_000), ",") + `], "metadata": {"nextCursor": "` +
		strings.Repeat("x", 10_000) + `"}}`
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		reason string // "": no error
	}{
		"endless": {func(w http.ResponseWriter, q *http.Request) {
			for q.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
					return
				}
			}
		}, event.ReasonBoundExceeded},
		"deep":       {saying(deep), event.ReasonRegistryFailed},
		"many":       {saying(many), ""},
		"more":       {saying(full), ""},
		"page":       {saying("<!DOCTYPE html><html></html>"), event.ReasonRegistryFailed},
		"no list":    {saying(`{"servers": {}}`), event.ReasonRegistryFailed},
		"null":       {saying(`{"servers": null, "metadata": null}`), ""},
		"array":      {saying(`[]`), event.ReasonRegistryFailed},
		"empty":      {saying(``), event.ReasonRegistryFailed},
		"forbidden":  {status(403), event.ReasonRegistryFailed},
		"none":       {status(404), event.ReasonRegistryFailed},
		"busy":       {status(429), event.ReasonRegistryFailed},
		"no content": {status(204), event.ReasonRegistryFailed},
		"metadata":   {to("http://169.254.169.254/x"), event.ReasonRegistryFailed},
		"private":    {to("https://10.0.0.1/"), event.ReasonRegistryFailed},
		"loopback":   {to("http://127.0.0.1:1/"), event.ReasonRegistryFailed},
		"downgrade":  {to("http://registry.example/"), event.ReasonRegistryFailed},
		"loop":       {to("/x"), event.ReasonRegistryFailed},
		"odd":        {to("file:///etc/passwd"), event.ReasonRegistryFailed},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			c := (&RegistryClient{RoundTripper: inMemory(func(w http.ResponseWriter, q *http.Request) {
				if asked++; q.URL.Host != "93.184.216.34" || asked > 4 {
					t.Errorf("%s was asked", q.URL)
				}
				tt.answer(w, q)
			})})
			page, err := c.Search(t.Context(), "https://93.184.216.34", Query{Text: "s3cret words"})
			if tt.reason == "" && err == nil {
				if len(page.Servers) > DefaultPage || page.Next != "" {
					t.Errorf("%d servers, next %.20q", len(page.Servers), page.Next)
				}
				return
			}
			e := event.AsError(err)
			if e.Reason != tt.reason || strings.Contains(e.Message, "s3cret") {
				t.Errorf("%s %v", e.Reason, err)
			}
		})
	}
}

func saying(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

func to(address string) http.HandlerFunc {
	return http.RedirectHandler(address, http.StatusFound).ServeHTTP
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// inMemory answers without a connection; a body is a pipe, so that an endless one has an end when it is closed.
type inMemory http.HandlerFunc

func (h inMemory) RoundTrip(q *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	w := &piped{head: make(chan struct{}), resp: &http.Response{StatusCode: 200, Header: http.Header{}, Request: q,
		ProtoMajor: 1, Body: pr}, to: pw}
	go func() {
		h(w, q)
		w.WriteHeader(200)
		pw.CloseWithError(context.Cause(q.Context())) // an answer that the end of its request has cut is not whole
	}()
	select {
	case <-w.head:
		context.AfterFunc(q.Context(), func() { pw.CloseWithError(context.Cause(q.Context())) })
		return w.resp, nil
	case <-q.Context().Done():
		pr.Close()
		return nil, context.Cause(q.Context())
	}
}

type piped struct {
	resp *http.Response
	to   *io.PipeWriter
	head chan struct{}
	said bool
}

func (p *piped) Header() http.Header { return p.resp.Header }

func (p *piped) WriteHeader(code int) {
	if !p.said {
		p.said = true
		p.resp.StatusCode = code
		close(p.head)
	}
}

func (p *piped) Write(b []byte) (int, error) {
	p.WriteHeader(200)
	return p.to.Write(b)
}

// A registry that does not answer, or not to the end, is given up after answerLimit; when the caller gives up, the
// request ends at once.
func TestSlowAnswers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"silent": func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() },
		"slow": func(w http.ResponseWriter, q *http.Request) {
			for tick := time.NewTicker(time.Second); ; {
				select {
				case <-tick.C:
					_, _ = io.WriteString(w, " ")
				case <-q.Context().Done():
					tick.Stop()
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := (&RegistryClient{RoundTripper: inMemory(answer)})
				began := time.Now()
				_, err := c.Search(t.Context(), "https://93.184.216.34", Query{})
				if e := event.AsError(err); e.Code != event.CodeDeadlineExceeded || time.Since(began) != answerLimit {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(2*time.Second, func() { cancel(errors.New("enough")) })
				began = time.Now()
				_, err = c.Search(ctx, "https://93.184.216.34", Query{})
				if e := event.AsError(err); e.Code != event.CodeCancelled || time.Since(began) != 2*time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				synctest.Wait()
			})
		})
	}
}

// A bundle is taken only with the hash that the registry says, and never from an address that the registry may not lead
// to.
func TestDownload(t *testing.T) {
	r := fakeregistry.Open(t)
	content := []byte("a bundle")
	sum := sha256.Sum256(content)
	d := proposal.Download{URL: r.Serve("/x.mcpb", content), SHA256: hex.EncodeToString(sum[:])}
	c := (&RegistryClient{})
	var got bytes.Buffer
	if err := c.Download(t.Context(), r.URL, d, &got); err != nil || got.String() != string(content) {
		t.Error(got.String(), err)
	}
	r.Serve("/x.mcpb", []byte("another bundle"))
	if err := c.Download(t.Context(), r.URL, d, io.Discard); event.AsError(err).Reason != event.ReasonBundleInvalid {
		t.Error(err)
	}
	if err := c.Download(t.Context(), "https://93.184.216.34", d, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "loopback") {
		t.Error(err)
	}
	long := (&RegistryClient{RoundTripper: inMemory(func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 1<<20); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})})
	d.URL = "https://93.184.216.34/x"
	err := long.Download(t.Context(), "https://93.184.216.34", d, io.Discard)
	if event.AsError(err).Reason != event.ReasonBoundExceeded {
		t.Error(err)
	}
}

// The headers of a request identify nothing but the program.
func TestRequestSaysLittle(t *testing.T) {
	var header http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		header = q.Header
		_, _ = io.WriteString(w, `{"servers": []}`)
	}))
	defer s.Close()
	c := (&RegistryClient{UserAgent: "mcphub/1"})
	if _, err := c.Search(t.Context(), s.URL, Query{}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"Accept", "Accept-Encoding", "User-Agent"}, names); diff != "" ||
		header.Get("User-Agent") != "mcphub/1" {
		t.Error(diff)
	}
}
