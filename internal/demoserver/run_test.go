package demoserver_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/internal/demoserver"
)

func TestCrashExits(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, s *served, c *client) {
		if got, isErr := c.text("crash", map[string]any{"code": 3}); !isErr {
			t.Errorf("got %q", got)
		}
		if code := <-s.exits; code != 3 {
			t.Errorf("exit %d, want 3", code)
		}
	})
}

func TestEndOfContextEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		r := s.dial()
		r.initialize(`{}`)
		r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"seconds":3600}}}`)
		synctest.Wait()
		s.stop(errStop)
		<-s.done
		if !errors.Is(s.err, errStop) {
			t.Errorf("Run: %v, want the cause", s.err)
		}
		if e := s.event(demoserver.EventFinished, "sleep"); e.Detail != "error" {
			t.Errorf("outcome %q", e.Detail)
		}
		s.event(demoserver.EventClosed, "")
		_ = s.in.Close()
	})
}

func TestLogNamesNoArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		c := s.connect(clientOptions{})
		_, _ = c.text("echo", map[string]any{"text": "s3cret"})
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		s.end()
		want := "demo server ready\ntool echo started\ntool echo finished detail=\"ok\"\ndemo server closed\n"
		if got := s.log.String(); got != want {
			t.Errorf("log:\n%s\nwant:\n%s", got, want)
		}
		record, err := os.ReadFile(s.record)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(record), "s3cret") {
			t.Errorf("record: %s", record)
		}
	})
}

func TestRunRefusesAnUnwritableRecord(t *testing.T) {
	err := demoserver.Run(t.Context(), demoserver.Options{
		In: os.Stdin, Out: os.Stdout, Record: filepath.Join(t.TempDir(), "missing", "record"),
	})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestReasonsAreBounded(t *testing.T) {
	rawBubble(t, func(t *testing.T, s *served, r *raw) {
		r.initialize(`{}`)
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9,"reason":"%sa\nb"}}`,
			strings.Repeat("ä", 300)))
		synctest.Wait()
		if e := s.event(demoserver.EventCancelReceived, ""); e.Reason != strings.Repeat("ä", 256) {
			t.Errorf("reason of %d runes", len([]rune(e.Reason)))
		}
		if n := strings.Count(s.log.String(), "\n"); n != 2 {
			t.Errorf("%d log lines, want 2: %s", n, s.log.String())
		}
	})
}
