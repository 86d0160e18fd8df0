//go:build unix

package e2e

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// mark makes a secret, within which are characters that formats escape. hides looks for its beginning and its end,
// since parts of a secret must not be shown either.
func mark(kind, within string) string { return "mk-" + kind + "-" + within + rand.Text() }

// parts returns the beginning and the end of a mark, by which it is found.
func parts(mark string) (beginning, end string) {
	beginning, _, _ = strings.Cut(strings.TrimPrefix(mark, "mk-"), "-")
	return "mk-" + beginning + "-", mark[len(mark)-len(rand.Text()):]
}

// seen is everything that a host was told, by where.
type seen struct {
	t    *testing.T
	said map[string]string
}

func (s *seen) note(where, text string) { s.said[where] += text + "\n" }

func (s *seen) fail(where string, err error) {
	if err == nil {
		s.t.Errorf("%s: no error", where)
		return
	}
	s.note(where, err.Error()+" "+fmt.Sprint(status.Convert(err).Details()))
}

// everything collects all that a hub tells about itself, and closes the hub.
func (s *seen) everything(d *door, logs *book, windows ...*fakeeditor.Window) {
	s.t.Helper()
	list, err := d.Servers.ListServers(d.ctx, &mcphubv1.ListServersRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.note("ListServers", asText(s.t, list))
	trace, err := d.Hub.GetTrace(d.ctx, &mcphubv1.GetTraceRequest{Bundle: true})
	if err != nil {
		s.t.Fatal(err)
	}
	s.note("GetTrace", asText(s.t, trace))
	if len(trace.GetTraces()) == 0 || len(trace.GetBundleJson()) < 100 {
		s.t.Errorf("there is no bundle: %v", trace)
	}
	kept, err := d.Servers.ListRemembered(d.ctx, &mcphubv1.ListRememberedRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.note("ListRemembered", asText(s.t, kept))
	info, err := d.Hub.GetInfo(d.ctx, &mcphubv1.GetInfoRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.note("GetInfo", asText(s.t, info))
	d.shut()
	for _, w := range windows {
		for _, e := range w.Events() {
			if f := e.GetMcpRequestFinished(); f.GetMcpError() != nil { // the server's own answer
				e = proto.Clone(e).(*mcphubv1.AttachResponse)
				e.GetMcpRequestFinished().McpError = nil
			}
			if l := e.GetPromptOpened().GetPrompt().GetServerLaunch(); l != nil {
				// shows the literal values, which the person agrees to
				e = proto.Clone(e).(*mcphubv1.AttachResponse)
				e.GetPromptOpened().GetPrompt().GetServerLaunch().Environment = nil
				for _, v := range l.GetEnvironment() {
					if v.GetName() != "MARK_LITERAL" {
						s.note("the environment in the question about a launch", asText(s.t, v))
					}
				}
			}
			s.note("the stream of "+w.ID(), asText(s.t, e))
		}
	}
	s.note("the log", logs.String())
}

// hides checks that no mark, whole or in part, is in what was collected.
func (s *seen) hides(marks ...string) {
	s.t.Helper()
	for where, text := range s.said {
		for _, m := range marks {
			beginning, end := parts(m)
			for _, part := range []string{beginning, end} {
				if i := strings.Index(text, part); i >= 0 {
					s.t.Errorf("%s shows %s: ...%s...", where, part, text[max(0, i-200):min(len(text), i+100)])
					break
				}
			}
		}
	}
}

// configCheck notes what the command line says of a config file, if it has that command.
func (s *seen) configCheck(e *estate, path string, env ...string) {
	s.t.Helper()
	if exec.Command(e.place.hub, "help", "config").Run() != nil {
		return
	}
	for _, form := range [][]string{nil, {"--json"}, {"--verbose"}} {
		cmd := exec.Command(e.place.hub, slices.Concat([]string{"config", "check"}, form, []string{path})...)
		cmd.Env = append(cmd.Environ(), env...)
		cmd.Dir = e.folder
		out, _ := cmd.CombinedOutput() // its status is about the file
		if !bytes.Contains(out, []byte("teller")) {
			s.t.Errorf("config check %v does not know the server:\n%s", form, out)
		}
		s.note("config check", string(out))
	}
}

// TestSecretsOfAProcessStayHidden: a server gets secrets from everywhere that a config can name, and writes them to
// stderr, also in its last lines and across the places at which long lines are cut. None of them reaches the host,
// except in the server's own answers, or the disk.
func TestSecretsOfAProcessStayHidden(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	const odd = `"q"&ü/ %`
	literal, fromEnv, fromFile, fromInput, inArgs := mark("literal", odd), mark("env", odd), mark("file", odd),
		mark("input", odd), mark("args", odd)
	marks := []string{literal, fromEnv, fromFile, fromInput, inArgs}
	e.write(".env", "MARK_FILE='"+fromFile+"'\n")
	server := func(args ...string) object {
		return object{
			"type": "stdio", "command": e.peer, "args": append([]string{"teller", "--note", "${env:E2E_ARGS}"}, args...),
			"envFile": "${workspaceFolder}/.env",
			"env": object{"GORACE": atOnce["GORACE"], "MARK_LITERAL": literal, "MARK_ENV": "${env:E2E_ENV}",
				"MARK_INPUT": "${input:key}"}, "approvals": allowAll,
		}
	}
	slow := server("--mute")
	slow["timeouts"] = object{"connect": "10s"} // it has to start and to speak before
	source := e.ofWorkspace(e.write(".vscode/mcp.json", jsonText(t, object{
		"inputs": []object{{"id": "key", "type": "promptString", "password": true}},
		"servers": object{"teller": server(), "mute": slow, "lost": object{"command": "${env:E2E_ENV}/${env:E2E_ARGS}",
			"args": []string{"${input:key}"}}},
	})))
	env := []string{"E2E_ENV=" + fromEnv, "E2E_ARGS=" + inArgs}
	s := &seen{t: t, said: map[string]string{}}
	s.configCheck(e, source.Path, env...)
	d, logs := e.hubWith(env, source)
	w, panel := d.window("side bar"), d.window("panel")

	c := d.variable("teller", "MARK_INPUT")
	takes(t, w.AcceptFor(w.WaitPrompt(launchPrompt).GetPromptId(), forGood))
	p := w.WaitPrompt(inputPrompt)
	takes(t,
		w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: &mcphubv1.PromptAnswer{
			PromptId: p.GetPromptId(),
			Action: &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{ContentJson: jsonText(t, fromInput),
				KeptByHost: true}},
		}}}))
	if got := c.text(); got != fromInput {
		t.Errorf("the server got %q", got)
	}
	for name, want := range map[string]string{"MARK_LITERAL": literal, "MARK_ENV": fromEnv, "MARK_FILE": fromFile} {
		if got := d.variable("teller", name).text(); got != want {
			t.Errorf("the server got %s=%q, want %q", name, got, want)
		}
	}
	if r := d.call("teller", "blab", `{}`).answer(); !strings.Contains(r.GetError().GetMessage(), fromEnv) {
		t.Errorf("the server's own answer was changed: %.300v", r)
	}
	c = d.call("teller", "die", `{}`)
	f := c.fails("UNAVAILABLE", "SERVER_GONE")
	if !strings.Contains(f.Message, "status 7") || !strings.Contains(f.Message, "[redacted]") {
		t.Errorf("the error lacks the last lines of stderr: %s", f.Message)
	}
	s.fail("the call of a server that died", c.err)

	for name, reason := range map[string]string{"mute": "CONNECT_TIMEOUT", "lost": "SERVER_FAILED"} {
		c = d.variable(name, "X")
		takes(t, w.AcceptFor(w.WaitPrompt(launchPrompt).GetPromptId(), forGood))
		if f := failure(t, c); f.Reason != reason || !strings.Contains(f.Message, "[redacted]") {
			t.Errorf("server %s failed with %+v", name, f)
		}
		s.fail("the start of "+name, c.err)
	}
	s.everything(d, logs, w, panel)
	for path, text := range files(t, e.state) {
		s.note(path, text)
	}
	if text := strings.Join(d.stderrOf(w), "\n"); strings.Count(text, "[redacted]") < 20 {
		t.Errorf("the server's stderr does not show that it told its secrets:\n%.2000s", text)
	}
	s.hides(marks...)
}

// stderrOf returns the lines of stderr that a window was shown.
func (d *door) stderrOf(w *fakeeditor.Window) (lines []string) {
	for _, e := range w.Events() {
		if m := e.GetLogMessage(); m.GetLevel() == "stderr" {
			lines = append(lines, m.GetDataJson())
		}
	}
	return lines
}

// TestSecretsOfAnAddressStayHidden: a server behind a URL, and an authorization server, repeat in their errors what
// they were sent. None of it reaches the host or the disk.
func TestSecretsOfAnAddressStayHidden(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	header, bearer, query, client := mark("header", `"q"&/ %`), mark("bearer", `"q"&/`), mark("query", "q+~"),
		mark("client", `"q"&ü/`)
	address := mark("address", "%2B~")
	// The places at which the text of an answer may be cut are within a secret.
	echo := func(w http.ResponseWriter, r *http.Request, status int) {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		said := fmt.Sprintf("you sent %s, %s and ?%s (%v), and I do not like %s", r.Header.Get("X-Mark"),
			r.Header.Get("Authorization"), r.URL.RawQuery, r.URL.Query(), token)
		for _, room := range []int{0, 240, 490, 1000, 4080} {
			said += " " + strings.Repeat("z", room) + token
		}
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Echo", r.Header.Get("X-Mark"))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, said)
	}
	b := newWebWith(t, fakeserver.HTTPOptions{}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(text))
			switch {
			case r.Header.Get("X-Mark") != header && r.URL.Path == fakeserver.PathMCP:
				http.Error(w, "the header did not come", http.StatusBadRequest)
			case strings.HasPrefix(r.URL.Path, "/broken"):
				echo(w, r, http.StatusInternalServerError)
			case strings.HasPrefix(r.URL.Path, "/forbidden"):
				echo(w, r, http.StatusForbidden)
			case strings.HasPrefix(r.URL.Path, "/html"):
				echo(w, r, http.StatusOK)
			case bytes.Contains(text, []byte(`"name":"blab"`)):
				echo(w, r, http.StatusBadGateway)
			default:
				next.ServeHTTP(w, r)
			}
		})
	})
	b.Tool("blab", func(*fakeserver.CallContext) {})
	a := newAuthority(t)
	id, _ := a.registered()

	server := func(path string) object {
		return object{
			"type": "http", "url": b.url + path + "?key=${env:E2E_QUERY}&more=" + address, "approvals": allowAll,
			"headers": object{"X-Mark": "${env:E2E_HEADER}", "Authorization": "Bearer " + bearer},
		}
	}
	source := e.ofUser(e.write("User/mcp.json", jsonText(t, object{
		"inputs": []object{{"id": "client", "type": "promptString", "password": true}},
		"servers": object{
			"good": server(fakeserver.PathMCP), "broken": server("/broken"), "forbidden": server("/forbidden"),
			"html":    server("/html"),
			"nowhere": object{"type": "http", "url": "http://127.0.0.1:9/mcp?key=${env:E2E_QUERY}", "approvals": allowAll},
			"guarded": object{"type": "http", "url": a.resource(), "approvals": allowAll,
				"oauth": object{"clientId": id, "clientSecret": "${input:client}", "grant": "client_credentials"}},
		},
	})))
	env := []string{"E2E_HEADER=" + header, "E2E_QUERY=" + query}
	d, logs := e.hubWith(env, source)
	w := d.window("side bar")
	s := &seen{t: t, said: map[string]string{}}

	if got := d.call("good", "echo", `{"text":"hello"}`).text(); got != "hello" {
		t.Errorf("the call gave %q", got)
	}
	for server, want := range map[string]string{"good": "HTTP status 502", "broken": "HTTP status 500",
		"forbidden": "HTTP status 403", "html": "", "nowhere": ""} {
		c := d.call(server, "blab", `{}`)
		if f := failure(t, c); f.Code != "UNAVAILABLE" || !strings.Contains(f.Message, want) || want != "" &&
			!strings.Contains(f.Message, "[redacted]") {
			t.Errorf("the call of %s ended with %+v", server, f)
		}
		s.fail("the call of "+server, c.err)
	}
	c := d.call("guarded", "echo", `{}`)
	p := w.WaitPrompt(inputPrompt)
	takes(t,
		w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: &mcphubv1.PromptAnswer{
			PromptId: p.GetPromptId(),
			Action: &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{ContentJson: jsonText(t, client),
				KeptByHost: true}},
		}}}))
	if f := failure(t, c); f.Reason != "SIGN_IN_FAILED" || !strings.Contains(f.Message, "invalid_client") {
		t.Errorf("the sign-in ended with %+v", f)
	}
	s.fail("the sign-in", c.err)
	s.everything(d, logs, w)
	for path, text := range files(t, e.state) {
		s.note(path, text)
	}
	s.hides(header, bearer, query, address, client)
}
