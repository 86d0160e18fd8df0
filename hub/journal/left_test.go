package journal

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

func ended(n int) (list []event.Ended) {
	for i := range n {
		list = append(list, event.Ended{Time: time.Unix(int64(i), 0), Body: &event.RequestCancelled{
			RequestID: fmt.Sprint("r-", i), Server: "s", Direction: event.Outgoing, Method: "tools/call",
			Tool: strings.Repeat("t", 100_000), Subject: "secret-subject", Preview: "secret-preview"}})
	}
	return list
}

// The file is bounded whatever a server calls its tools, several hubs add to it, and it is told once.
func TestLeftIsBoundedAndTakenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "left.json")
	l := OpenLeft(path, slog.New(slog.DiscardHandler))
	for range 2 {
		if err := l.Write(ended(150)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) > maxLeft*(4*maxLeftText+200) || strings.Contains(string(text), "secret") {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	other := OpenLeft(path, slog.New(slog.DiscardHandler))
	got := other.Take()
	if len(got) != maxLeft {
		t.Fatalf("%d requests are told", len(got))
	}
	if c := got[maxLeft-1].Body.(*event.RequestCancelled); c.RequestID != "r-149" || !got[0].EarlierHub {
		t.Errorf("the latest is %s", c.RequestID)
	}
	if again := l.Take(); len(again) != 0 {
		t.Errorf("%d are told again", len(again))
	}
}

// A file with other content, or a link, tells nothing, and a hub without a place for it has none.
func TestLeftOfOthersTellsNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"garbage": "{", "other": `{"ended":"x"}`, "empty": ""} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := OpenLeft(path, slog.New(slog.DiscardHandler)).Take(); len(got) != 0 {
			t.Errorf("%s tells of %d", name, len(got))
		}
	}
	if runtime.GOOS != "windows" { // links need a privilege there
		target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
		if err := OpenLeft(target, slog.New(slog.DiscardHandler)).Write(ended(1)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if got := OpenLeft(link, slog.New(slog.DiscardHandler)).Take(); len(got) != 0 {
			t.Errorf("a link tells of %d", len(got))
		}
		if got := OpenLeft(target, slog.New(slog.DiscardHandler)).Take(); len(got) != 1 {
			t.Errorf("the file that a link led to tells of %d, want 1", len(got))
		}
	}
	if got := OpenLeft("", slog.New(slog.DiscardHandler)).Take(); len(got) != 0 {
		t.Errorf("no place tells of %d", len(got))
	}
}
