package hub_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// known returns the tools that are known of a server, with "(cached)" behind those of an earlier connection.
func (w *world) known(name string) string {
	w.t.Helper()
	list, troubles, err := w.hub.KnownTools(context.Background(), name)
	if err != nil || len(troubles) != 0 {
		w.t.Fatal(err, troubles)
	}
	var names []string
	for _, t := range list {
		if t.Cached {
			t.Name += "(cached)"
		}
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// The file holds the tools of the 64 servers that were listed last, and of none that has a megabyte of them.
func TestToolFileIsBounded_amount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		fakes := map[string]*fakeserver.Server{}
		for i := range 66 {
			fakes[fmt.Sprintf("s%02d", i)] = answers("a")
		}
		big := fakeserver.New()
		for i := range 3 {
			big.ToolWith(fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{"type":"object"}}`, i,
				strings.Repeat("x", 400<<10)), func(*fakeserver.CallContext) {})
		}
		fakes["big"] = big
		w := newWorldIn(t, dir, fakes)
		for i := range 66 {
			w.listed(fmt.Sprintf("s%02d", i))
			pass(time.Second)
		}
		w.listed("big")
		synctest.Wait()
		if info, err := os.Stat(filepath.Join(dir, "tools.json")); err != nil || info.Size() > 64<<10 ||
			!ofUserAlone(info) {
			t.Errorf("%+v, %v", info, err)
		}
		later := newWorldIn(t, dir, fakes)
		for name, want := range map[string]string{"s00": "", "s01": "", "s02": "a(cached)", "s65": "a(cached)", "big": ""} {
			if got := later.known(name); got != want {
				t.Errorf("known tools of %s: %q, want %q", name, got, want)
			}
		}
	})
}

// A file that is broken, or cannot be written, costs the cache and fails no call; that is logged once.
func TestToolFileThatIsOfNoUse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "tools.json"), []byte(`{"servers":[{"server":"s",`), 0o600); err != nil {
			t.Fatal(err)
		}
		w := newWorldIn(t, dir, serversOf("s", answers("a")))
		if got := w.known("s"); got != "" {
			t.Errorf("%q", got)
		}
		w.listed("s")
		synctest.Wait()
		if got := newWorldIn(t, dir, serversOf("s", answers())).known("s"); got != "a(cached)" {
			t.Errorf("the broken file was not replaced: %q", got)
		}

		nowhere := filepath.Join(dir, "tools.json", "below a file")
		var text bytes.Buffer
		w = newWorldWith(t, hub.Options{StateDir: nowhere, Logger: slog.New(slog.NewTextHandler(&text, nil))},
			map[string]*fakeserver.Server{"s": answers("a"), "t": answers("b")})
		w.listed("s")
		w.listed("t")
		synctest.Wait()
		for _, name := range []string{"s", "t"} {
			if _, err := w.hub.StopServer(context.Background(), name, ""); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.known(""); got != "a(cached) b(cached)" {
			t.Errorf("%q", got)
		}
		unread := 1
		if runtime.GOOS == "windows" {
			unread = 0 // a path below a file counts as missing there
		}
		read := len(regexp.MustCompile(`could not be read" file=.*/tools\.json" error`).FindAllString(text.String(), -1))
		if written := strings.Count(text.String(), "cannot be written"); read != unread || written != 1 {
			t.Errorf("logged %d read and %d write failures, want %d and 1:\n%s", read, written, unread, text.String())
		}
	})
}
