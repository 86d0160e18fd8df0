package catalog

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeregistry"
)

// bundleOf makes the smallest bundle of a name, and gives its SHA-256.
func bundleOf(t *testing.T, name string) (content []byte, sum string) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for file, text := range map[string]string{"server.js": "", "manifest.json": fmt.Sprintf(`{"manifest_version": "0.2",
		"name": %q, "version": "1.0.0", "description": "d", "author": {"name": "a"}, "server": {"type": "node",
		"entry_point": "server.js", "mcp_config": {"command": "node", "args": ["${__dirname}/server.js"]}}}`, name)} {
		f, err := w.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(hash[:])
}

// Downloads do not fill the disk: a few are kept, one that is kept is not repeated, and no more than a few run at once.
func TestDownloadsAreBounded(t *testing.T) {
	state := t.TempDir()
	r := fakeregistry.Open(t)
	const servers = maxDownloaded + 3
	for i := range servers {
		name := fmt.Sprintf("mcp-%d", i)
		content, sum := bundleOf(t, name)
		r.Add(fakeregistry.Entry{Server: fmt.Sprintf(`{"name": "io.example/%s", "version": "1", "description": "d",
			"packages": [{"registryType": "mcpb", "identifier": %q, "fileSha256": %q}]}`, name,
			r.Serve("/"+name+".mcpb", content), sum)})
	}
	c := New(Options{StateDir: state})
	onDisk := func() int {
		all, _ := filepath.Glob(filepath.Join(state, "bundles", "download-*"))
		return len(all)
	}
	var last Offer
	var ids []string
	for i := range servers {
		_, offers, err := c.Server(t.Context(), r.URL, fmt.Sprintf("io.example/mcp-%d", i), "")
		if err != nil || len(offers) != 1 {
			t.Fatal(offers, err)
		}
		if last, err = c.FetchBundle(t.Context(), offers[0].ID); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, last.ID)
		came := len(r.Requests())
		if again, err := c.FetchBundle(t.Context(), offers[0].ID); err != nil || again.ID != last.ID ||
			len(r.Requests()) != came {
			t.Errorf("downloaded again: %v", err)
		}
	}
	if n := onDisk(); n != maxDownloaded {
		t.Errorf("%d downloads are kept, want %d", n, maxDownloaded)
	}
	if _, err := c.Fill(ids[0], nil); event.AsError(err).Reason != event.ReasonProposalNotFound {
		t.Errorf("the oldest is kept: %v", err)
	}
	if _, err := c.Unpack(t.Context(), last.ID); err != nil {
		t.Error(err)
	}

	// So many at once: the server holds its answers back until all were asked for.
	_, offers, err := c.Server(t.Context(), r.URL, "io.example/mcp-0", "")
	if err != nil {
		t.Fatal(err)
	}
	asked, release := make(chan struct{}), make(chan struct{})
	r.Instead(func(w http.ResponseWriter, q *http.Request) {
		asked <- struct{}{}
		<-release
		http.Error(w, "no", http.StatusNotFound)
	})
	results := make(chan error)
	for range maxDownloading {
		go func() {
			_, err := c.FetchBundle(t.Context(), offers[0].ID)
			results <- err
		}()
		<-asked
	}
	if _, err := c.FetchBundle(t.Context(), offers[0].ID); err == nil ||
		event.AsError(err).Reason != event.ReasonBoundExceeded || !strings.Contains(err.Error(), "downloaded already") {
		t.Errorf("one more: %v", err)
	}
	close(release)
	for range maxDownloading {
		if err := <-results; err == nil {
			t.Error("downloaded")
		}
	}
	c.Close()
	if n := onDisk(); n != 0 {
		t.Errorf("%d downloads are left after the end", n)
	}
	if _, err := os.Stat(last.Bundle.Folder); errors.Is(err, os.ErrNotExist) {
		t.Error("what was unpacked is gone")
	}
}
