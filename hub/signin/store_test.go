package signin

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// someKey is the proof key of someEntry.
var someKey = sync.OnceValue(func() *ProofKey {
	k, err := newProofKey()
	if err != nil {
		panic(err)
	}
	return k
})

// sameKeys lets cmp compare entries.
var sameKeys = cmp.Comparer(func(a, b *ProofKey) bool { return a.secret() == b.secret() && (a == nil) == (b == nil) })

func someEntry(server string) *Entry {
	return &Entry{
		Server: server, URL: mcpURL, Issuer: issuerAS, Resource: mcpURL, ClientID: "c", ClientSecret: "client-secret",
		AuthStyle: 2,
		TokenURL:  issuerAS + "/token", Scopes: []string{"read"}, AccessToken: "access-token", RefreshToken: "refresh-token",
		Expiry: time.Unix(1_900_000_000, 0).UTC(), Saved: time.Unix(1_800_000_000, 0).UTC(),
		Registration: &Registration{"https://as.example/register", "http://127.0.0.1:1/callback",
			[]byte(`{"client_id":"c","client_secret":"client-secret"}`)},
		ProofKey: someKey(), TokenType: "DPoP",
	}
}

func openFiles(t *testing.T) (*fileStore, *logs) {
	l := &logs{}
	return &fileStore{dir: filepath.Join(t.TempDir(), "state", "sign-in"), log: slog.New(slog.NewTextHandler(l, nil))}, l
}

// A store returns what was saved, for each server its own entry, and forgets what is deleted.
func TestFileStore(t *testing.T) {
	files, _ := openFiles(t)
	for name, s := range map[string]Store{"file": files, "memory": NewMemory()} {
		t.Run(name, func(t *testing.T) {
			for _, server := range []string{"one", "two"} {
				if e, err := s.Load(t.Context(), Key{server, mcpURL}); e != nil || err != nil {
					t.Fatalf("%v, %v", e, err)
				}
				if err := s.Save(t.Context(), someEntry(server)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.Load(t.Context(), Key{"one", mcpURL})
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(someEntry("one"), got, sameKeys) {
				t.Errorf("%+v", *got)
			}
			if e, _ := s.Load(t.Context(), Key{"one", mcpURL + "/"}); e != nil {
				t.Error("an entry for another URL")
			}
			for range 2 {
				if err := s.Delete(t.Context(), Key{"one", mcpURL}); err != nil {
					t.Error(err)
				}
			}
			one, _ := s.Load(t.Context(), Key{"one", mcpURL})
			two, _ := s.Load(t.Context(), Key{"two", mcpURL})
			if one != nil || two == nil {
				t.Errorf("%v, %v", one, two)
			}
		})
	}
}

func modesCount(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing on Windows")
	}
}

// What cannot be read counts as absent, with a warning that quotes nothing of it.
func TestFileStoreCorrupt(t *testing.T) {
	key := Key{"one", mcpURL}
	for name, write := range map[string]func(path string) error{
		"empty":      func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"no JSON":    func(p string) error { return os.WriteFile(p, []byte(`{"accessToken":"tell-tale`), 0o600) },
		"wrong type": func(p string) error { return os.WriteFile(p, []byte(`{"expiry":"tell-tale"}`), 0o600) },
		"other server": func(p string) error {
			return os.WriteFile(p, []byte(`{"server":"tell-tale","url":"u","issuer":"i"}`), 0o600)
		},
		"too long":  func(p string) error { return os.WriteFile(p, make([]byte, maxEntry+1), 0o600) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			s, l := openFiles(t)
			if err := s.makeDir(); err != nil {
				t.Fatal(err)
			}
			if err := write(s.path(key)); err != nil {
				t.Fatal(err)
			}
			if e, err := s.Load(t.Context(), key); e != nil || err != nil {
				t.Errorf("%v, %v", e, err)
			}
			if !strings.Contains(l.String(), "WARN") || strings.Contains(l.String(), "tell-tale") {
				t.Errorf("log %s", l)
			}
		})
	}
}

// Many hubs write at once: a reader sees an old entry or a new one, never half of one.
func TestFileStoreIsAtomic(t *testing.T) {
	s, l := openFiles(t)
	key := Key{"one", mcpURL}
	if err := s.Save(t.Context(), someEntry("one")); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				if err := s.Save(t.Context(), someEntry("one")); err != nil {
					t.Error(err)
				}
				if e, err := s.Load(t.Context(), key); err != nil || e == nil {
					t.Errorf("loaded %v, %v; the log has %s", e, err, l)
				}
			}
		})
	}
	all.Wait()
	if found, _ := os.ReadDir(s.dir); len(found) != 1 {
		t.Errorf("%d files", len(found))
	}
}

// Printing an entry, in any way, shows no secret.
func TestEntryHidesSecrets(t *testing.T) {
	e := someEntry("one")
	l := &logs{}
	slog.New(slog.NewJSONHandler(l, nil)).Info("x", "entry", e)
	text := fmt.Sprintf("%v %+v %#v %s %q", e, e, e, e, e) + l.String()
	text += fmt.Sprintf("%v %+v %#v %s %q", e.ProofKey, e.ProofKey, e.ProofKey, e.ProofKey, e.ProofKey)
	slog.New(slog.NewJSONHandler(l, nil)).Info("x", "key", e.ProofKey)
	text += l.String()
	if key := e.ProofKey.secret(); key == "" || !slices.Contains(e.secrets(), key) {
		t.Fatal("the key is no secret of the entry")
	}
	raw, err := e.ProofKey.key.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range append(e.secrets(), new(big.Int).SetBytes(raw).String(), hex.EncodeToString(raw), string(raw)) {
		if secret != "" && strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
}
