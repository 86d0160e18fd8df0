//go:build unix

package e2e

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
)

// book takes log lines from any goroutine.
type book struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (b *book) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// openLogged opens a hub that logs all it can, with variables in its environment; it has no state directory unless they
// name one.
func (p *place) openLogged(s servers, env ...string) (*door, *book) {
	p.t.Helper()
	logs := new(book)
	ctx, cancel := context.WithTimeoutCause(p.t.Context(), faketime.Long, errors.New("the test took too long"))
	p.t.Cleanup(cancel)
	client, err := host.Open(ctx, host.Options{
		Command: p.hub, Dir: p.dir, Env: append([]string{stateless, handshake.EnvLog + "=debug"}, env...), Stderr: logs,
		StartTimeout: faketime.Long,
		Logger:       slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			p.t.Error(err)
		}
	})
	d := &door{Client: client, t: p.t, ctx: ctx}
	d.load(s.config())
	return d, logs
}

// TestLogsTellCancelsAndNoSecrets: every cancel is in the log with its id, direction and reason; arguments, answers and
// values of variables are not.
func TestLogsTellCancelsAndNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-0f-th3-us3r"
	p := newPlace(t)
	e := p.demo("legacy")
	e.Env = map[string]string{"API_TOKEN": secret}
	d, logs := p.openLogged(servers{"demo": e}, "EDITOR_TOKEN="+secret)
	w := d.windowWith(fakeeditor.Options{Title: "side bar"})
	d.echoes("demo", secret)

	c := d.call("demo", "process_file", `{"hold_ms":600000,"content":"`+secret+`"}`)
	w.WaitRequest(c.id, running)
	cancels(t, w, c.id, "line\nbreak \x1b[31m"+strings.Repeat("long", 200))
	c.fails("CANCELLED", "CANCELLED")

	c = d.call("demo", "ask_name", `{}`)
	takes(t, w.Accept(w.WaitPrompt(form).GetPromptId(), `{"name":"`+secret+`"}`))
	c.text()
	d.call("demo", "ask_then_withdraw", `{"after_ms":100,"reason":"found it"}`).text()
	if err := d.Close(context.Background()); err != nil {
		t.Error(err)
	}

	text := logs.String()
	if strings.Contains(text, secret) {
		t.Errorf("the log holds the secret:\n%s", text)
	}
	for _, want := range []string{
		`msg="request cancelled" .*direction=client_to_server .*reason="line\\\\\\\\nbreak \\\\\\\\u001b\[31m(long){1,60}.{0,4}" request_id=process_file-\d+ server=demo`,
		`msg="request cancelled" .*direction=server_to_client .*reason="found it" request_id=ask-\w+-\d+ server=demo`,
	} {
		if !regexp.MustCompile(strings.ReplaceAll(want, `\\\\\\\\`, `\\\\`)).MatchString(text) {
			t.Errorf("the log does not say %s:\n%s", want, text)
		}
	}
}
