package grants

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// Finding C2: several hubs that start at once on a new folder have one key, which only the user can read.
func TestFormKeyIsOneForAllHubs(t *testing.T) {
	dir := t.TempDir()
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() { keys[i] = openFormKey(dir, slog.New(slog.DiscardHandler)).get() })
	}
	all.Wait()
	for _, key := range keys {
		if len(key) != keyBytes || !bytes.Equal(key, keys[0]) {
			t.Fatalf("keys of %d and %d bytes differ", len(key), len(keys[0]))
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "consent-key.json")); err != nil || runtime.GOOS != "windows" &&
		info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if other := openFormKey(t.TempDir(), slog.New(slog.DiscardHandler)).get(); bytes.Equal(other, keys[0]) {
		t.Error("two users have the same key")
	}
	if memory := openFormKey("", slog.New(slog.DiscardHandler)); !bytes.Equal(memory.get(), memory.get()) {
		t.Error("a key in memory changes")
	}
}

// A file that holds no key does not fail the hub: another key is made and kept.
func TestFormKeyOfABrokenFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "consent-key.json"), []byte(`{"version":1,"key":"abcd"}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	key := openFormKey(dir, slog.New(slog.DiscardHandler)).get()
	if again := openFormKey(dir, slog.New(slog.DiscardHandler)).get(); len(key) != keyBytes ||
		!bytes.Equal(key, again) {
		t.Error("the key is not kept")
	}
}
