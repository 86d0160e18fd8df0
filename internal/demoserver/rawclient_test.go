package demoserver_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// raw is a client without an SDK, for tests that check the bytes on the wire.
type raw struct {
	t     *testing.T
	w     io.Writer
	lines chan string
}

func (s *served) dial() *raw {
	r := &raw{t: s.t, w: s.in, lines: make(chan string, 1000)}
	go func() {
		defer close(r.lines)
		sc := bufio.NewScanner(s.out)
		for sc.Scan() {
			r.lines <- sc.Text()
		}
	}()
	return r
}

func (r *raw) send(lines ...string) {
	r.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(r.w, l+"\n"); err != nil {
			r.t.Fatal(err)
		}
	}
}

// want reads one line. It fails the test unless the line comes within an hour of fake time and contains all parts.
func (r *raw) want(parts ...string) string {
	r.t.Helper()
	select {
	case l, ok := <-r.lines:
		if !ok {
			r.t.Fatalf("server ended, want %q", parts)
		}
		for _, p := range parts {
			if !strings.Contains(l, p) {
				r.t.Fatalf("got %s\nwant it to contain %s", l, p)
			}
		}
		return l
	case <-time.After(time.Hour):
		r.t.Fatalf("nothing came, want %q", parts)
		return ""
	}
}

func (r *raw) initialize(caps string) {
	r.t.Helper()
	r.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` +
		caps + `,"clientInfo":{"name":"raw","version":"0"}}}`)
	r.want(`"id":"init"`, `"name":"mcphub-demo"`, `"version":"1.2.3"`)
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func rawBubble(t *testing.T, body func(t *testing.T, s *served, r *raw)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		body(t, s, s.dial())
		s.endRaw()
	})
}

// endRaw is end for a raw client, which reads the last answers itself.
func (s *served) endRaw() {
	s.t.Helper()
	_ = s.in.Close()
	<-s.done
	if s.err != nil {
		s.t.Errorf("Run: %v", s.err)
	}
	s.stop(errors.New("test is over"))
}
