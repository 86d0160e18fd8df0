package signin

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

// fakeRing is a keyring that can refuse long entries, fail, or hang until a channel is closed.
type fakeRing struct {
	mu    sync.Mutex
	items map[string]string
	limit int
	err   error
	hang  chan struct{}
	uses  int
}

func (r *fakeRing) begin() error {
	r.mu.Lock()
	r.uses++
	hang, err := r.hang, r.err
	r.mu.Unlock()
	if hang != nil {
		<-hang
	}
	return err
}

func (r *fakeRing) Get(service, user string) (string, error) {
	if err := r.begin(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if text, ok := r.items[service+user]; ok {
		return text, nil
	}
	return "", keyring.ErrNotFound
}

func (r *fakeRing) Set(service, user, secret string) error {
	if err := r.begin(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limit > 0 && len(secret) > r.limit {
		return keyring.ErrSetDataTooBig
	}
	r.items[service+user] = secret
	return nil
}

func (r *fakeRing) Delete(service, user string) error {
	if err := r.begin(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.items[service+user]; !ok {
		return keyring.ErrNotFound
	}
	delete(r.items, service+user)
	return nil
}

func openRing() (*keyringStore, *fakeRing, *memory) {
	ring, fallback := &fakeRing{items: map[string]string{}}, NewMemory().(*memory)
	return &keyringStore{Keyring: &Keyring{ring: ring, log: slog.New(slog.DiscardHandler), what: "sign-ins"},
		fallback: fallback}, ring, fallback
}

var one = Key{"one", mcpURL}

func save(t *testing.T, s Store, e *Entry) {
	t.Helper()
	if err := s.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

func loadToken(t *testing.T, s Store) string {
	t.Helper()
	e, err := s.Load(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	if e == nil {
		return ""
	}
	return e.AccessToken
}

// The keyring is used when it is there, and nothing goes to the fallback.
func TestKeyring(t *testing.T) {
	s, ring, fallback := openRing()
	if got := loadToken(t, s); got != "" {
		t.Errorf("found %q", got)
	}
	save(t, s, someEntry("one"))
	if len(ring.items) != 1 || len(fallback.entries) != 0 {
		t.Errorf("%d in the keyring, %d in the fallback", len(ring.items), len(fallback.entries))
	}
	if got := loadToken(t, s); got != "access-token" {
		t.Errorf("found %q", got)
	}
	for range 2 {
		if err := s.Delete(t.Context(), one); err != nil {
			t.Error(err)
		}
	}
	if got := loadToken(t, s); got != "" {
		t.Errorf("found %q", got)
	}
}

// A keyring that hangs is given up after two seconds, once; the fallback takes over.
func TestKeyringHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ring, fallback := openRing()
		ring.hang = make(chan struct{})
		start := time.Now()
		save(t, s, someEntry("one"))
		if got := time.Since(start); got != keyringLimit {
			t.Errorf("after %v", got)
		}
		if len(fallback.entries) != 1 || loadToken(t, s) != "access-token" {
			t.Error("the fallback does not have it")
		}
		if err := s.Delete(t.Context(), one); err == nil {
			t.Error("an older entry may be in the keyring, and nobody is told")
		}
		ring.mu.Lock()
		uses := ring.uses
		ring.mu.Unlock()
		if time.Since(start) != keyringLimit || uses != 1 {
			t.Errorf("asked %d times, %v", uses, time.Since(start))
		}
		close(ring.hang) // ends its goroutine
	})
}

// A keyring without a service fails at once; it is asked once, and the fallback is used.
func TestKeyringAway(t *testing.T) {
	s, ring, fallback := openRing()
	ring.err = errors.New("no such bus")
	if got := loadToken(t, s); got != "" {
		t.Errorf("found %q", got)
	}
	save(t, s, someEntry("one"))
	if len(fallback.entries) != 1 || ring.uses != 1 {
		t.Errorf("%d in the fallback, asked %d times", len(fallback.entries), ring.uses)
	}
}

// An entry that is too long for the keyring goes to the fallback, and the older one in the keyring is deleted.
func TestKeyringTooSmall(t *testing.T) {
	s, ring, fallback := openRing()
	save(t, s, someEntry("one"))
	ring.limit = 100
	long := *someEntry("one")
	long.AccessToken = "longer"
	save(t, s, &long)
	if len(ring.items) != 0 || len(fallback.entries) != 1 || loadToken(t, s) != "longer" {
		t.Errorf("%d in the keyring, %d in the fallback", len(ring.items), len(fallback.entries))
	}
	ring.limit = 0
	save(t, s, someEntry("one"))
	if len(ring.items) != 1 || len(fallback.entries) != 0 {
		t.Errorf("back again: %d in the keyring, %d in the fallback", len(ring.items), len(fallback.entries))
	}
}

// If the keyring was not available for a time, the younger of the two entries counts.
func TestKeyringYoungerCounts(t *testing.T) {
	s, _, fallback := openRing()
	save(t, s, someEntry("one"))
	younger := *someEntry("one")
	younger.AccessToken, younger.Saved = "younger", younger.Saved.Add(time.Hour)
	save(t, fallback, &younger)
	if got := loadToken(t, s); got != "younger" {
		t.Errorf("found %q", got)
	}
	older := younger
	older.AccessToken, older.Saved = "older", someEntry("one").Saved.Add(-time.Hour)
	save(t, fallback, &older)
	if got := loadToken(t, s); got != "access-token" {
		t.Errorf("found %q", got)
	}
}

// An item of the keyring that cannot be read counts as absent.
func TestKeyringCorrupt(t *testing.T) {
	s, ring, _ := openRing()
	ring.items[keyringService+one.id()] = "rubbish"
	if got := loadToken(t, s); got != "" {
		t.Errorf("found %q", got)
	}
}

// The keyring is not available any more when the user signs out: the token is still in it, so that is an error.
func TestKeyringGoneAtSignOut(t *testing.T) {
	s, ring, _ := openRing()
	save(t, s, someEntry("one"))
	ring.err = errors.New("no such bus")
	for range 2 {
		if err := s.Delete(t.Context(), one); err == nil {
			t.Error("no error")
		}
	}
}

// Signing out in a run in which the keyring never answered, as it is locked: the token of an earlier run is still in
// it. The user is told so, and the token does not come back when the keyring does. Finding B15.
func TestKeyringLockedAtSignOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock stands still: the sign-out may be of the same time as the sign-in
		s, ring, fallback := openRing()
		earlier := *someEntry("one")
		earlier.Saved = time.Now()
		save(t, s, &earlier)
		next := &keyringStore{Keyring: &Keyring{ring: ring, log: slog.New(slog.DiscardHandler), what: "sign-ins"},
			fallback: fallback}
		ring.err = errors.New("the collection is locked")
		for range 2 {
			if err := next.Delete(t.Context(), one); err == nil {
				t.Error("told as success")
			}
		}
		ring.err = nil
		again := &keyringStore{Keyring: &Keyring{ring: ring, log: slog.New(slog.DiscardHandler), what: "sign-ins"},
			fallback: fallback}
		if got := loadToken(t, again); got != "" {
			t.Errorf("signed in again with %q", got)
		}
		younger := *someEntry("one")
		younger.AccessToken, younger.Saved = "younger", time.Now().Add(time.Hour)
		save(t, again, &younger)
		if got := loadToken(t, again); got != "younger" || len(fallback.entries) != 0 {
			t.Errorf("after the next sign-in: found %q, %d in the fallback", got, len(fallback.entries))
		}
	})
}

// Where there is no keyring at all, nothing could be left in it, and signing out succeeds. Finding B15.
func TestNoKeyringAtSignOut(t *testing.T) {
	for name, err := range map[string]error{
		"no bus":         errNoSessionBus,
		"no service":     errors.New("The name org.freedesktop.secrets was not provided by any .service files"),
		"no such system": keyring.ErrUnsupportedPlatform,
	} {
		s, ring, _ := openRing()
		ring.err = err
		if got := loadToken(t, s); got != "" {
			t.Errorf("%s: found %q", name, got)
		}
		save(t, s, someEntry("one"))
		if err := s.Delete(t.Context(), one); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := loadToken(t, s); got != "" {
			t.Errorf("%s: found %q", name, got)
		}
	}
}
