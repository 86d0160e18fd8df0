package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/zalando/go-keyring"
)

const (
	keyringService = "mcphub"
	// keyringLimit bounds each use of the keyring: the Secret Service may wait for a person to unlock it, or for nothing at all.
	keyringLimit = 2 * time.Second
)

var (
	errKeyringSlow  = errors.New("the system's keyring does not answer")
	errKeyringGone  = errors.New("the system's keyring is not used")
	errNoSessionBus = errors.New("there is no session bus")
)

// ring is the part of the keyring library that is used.
type ring interface {
	Get(service, user string) (string, error)
	Set(service, user, secret string) error
	Delete(service, user string) error
}

// systemRing is the keyring of this system.
type systemRing struct{}

func (systemRing) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (systemRing) Set(service, user, secret string) error   { return keyring.Set(service, user, secret) }
func (systemRing) Delete(service, user string) error        { return keyring.Delete(service, user) }

// OpenStore returns the store for a hub: the system's keyring, and for what the keyring does not take a directory below stateDir
// that only the user can read. An empty stateDir leaves the keyring alone, or memory where there is none. Nothing is touched before
// the first use. A nil logger discards.
func OpenStore(stateDir string, logger *slog.Logger) Store {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	s := &keyringStore{Keyring: OpenKeyring("sign-ins", logger), fallback: NewMemory()}
	if stateDir != "" {
		s.fallback = &fileStore{dir: filepath.Join(stateDir, "sign-in"), log: logger}
	}
	return s
}

// Keyring is the system's keyring, used so that it can hold up nobody: each use is bounded, and one that failed is the last. It may be used concurrently.
type Keyring struct {
	ring ring
	log  *slog.Logger
	what string // is kept in it, for the log

	mu      sync.Mutex // guards gone and reached
	gone    bool       // the keyring failed once, and is left alone for the rest of the run
	reached bool       // the keyring has answered once
}

// OpenKeyring gives the keyring; what is kept in it, in the plural, for the log, which it is told of once when there is no keyring.
func OpenKeyring(what string, logger *slog.Logger) *Keyring {
	k := &Keyring{ring: systemRing{}, log: logger, what: what}
	if err := sessionBus(); err != nil {
		k.giveUp(err)
	}
	return k
}

// Get gives what is kept by a name. The error tells that there is none, or no keyring.
func (k *Keyring) Get(id string) (string, error) {
	text, err := k.use(func() (string, error) { return k.ring.Get(keyringService, id) })
	if err != nil && !errors.Is(err, keyring.ErrNotFound) && !errors.Is(err, errKeyringGone) {
		k.giveUp(err)
	}
	return text, err
}

// Set keeps a text by a name. An error tells that it is not kept; what was there before may still be.
func (k *Keyring) Set(id, text string) error {
	_, err := k.use(func() (string, error) { return "", k.ring.Set(keyringService, id, text) })
	switch {
	case err == nil:
	case errors.Is(err, keyring.ErrSetDataTooBig):
		// What is still there is older than what takes its place elsewhere.
		_ = k.Remove(id)
	case !errors.Is(err, errKeyringGone):
		k.giveUp(err)
	}
	return err
}

// Remove forgets what is kept by a name. That there is none is an error, too.
func (k *Keyring) Remove(id string) error {
	_, err := k.use(func() (string, error) { return "", k.ring.Delete(keyringService, id) })
	return err
}

// sessionBus looks for what the keyring library needs on systems with the Secret Service. Without it the library would start a
// bus of its own with dbus-launch, which outlives us and knows no keyring.
func sessionBus() error {
	switch runtime.GOOS {
	case "darwin", "windows", "ios", "android":
		return nil
	}
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && a != "autolaunch:" {
		return nil
	}
	dir := fmt.Sprintf("/run/user/%d", os.Getuid())
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil
		}
	}
	return errNoSessionBus
}

func (k *Keyring) giveUp(err error) {
	k.mu.Lock()
	told := k.gone
	k.gone = true
	k.mu.Unlock()
	if !told {
		k.log.Info(k.what+" are not kept in the system's keyring", "reason", printable(err.Error()))
	}
}

// use runs f within the limit. The library knows no contexts: what hangs in it cannot be ended. It keeps its goroutine, and the
// keyring is not asked again, so that this happens at most once for each call that was under way.
func (k *Keyring) use(f func() (string, error)) (string, error) {
	k.mu.Lock()
	gone := k.gone
	k.mu.Unlock()
	if gone {
		return "", errKeyringGone
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := f()
		done <- result{text, err}
	}()
	limit := time.NewTimer(keyringLimit)
	defer limit.Stop()
	select {
	case r := <-done:
		if r.err == nil || errors.Is(r.err, keyring.ErrNotFound) {
			k.mu.Lock()
			k.reached = true
			k.mu.Unlock()
		}
		return r.text, r.err
	case <-limit.C:
		k.giveUp(errKeyringSlow)
		return "", errKeyringSlow
	}
}

// keyringStore keeps an entry in the keyring if it can, else in the fallback; never knowingly in both. When both have one, as
// after a keyring that was away for a time, the younger counts.
type keyringStore struct {
	*Keyring
	fallback Store
}

// Load implements Store.
func (k *keyringStore) Load(ctx context.Context, key Key) (*Entry, error) {
	text, err := k.Get(key.id())
	var inRing *Entry
	if err == nil {
		if inRing, err = decodeEntry([]byte(text), key); err != nil {
			k.log.Warn("a kept sign-in is not used", "server", key.Server, "place", "keyring", "error", err.Error())
		}
	}
	other, err := k.fallback.Load(ctx, key)
	switch {
	case inRing == nil:
		return other, err
	case other != nil && other.Saved.After(inRing.Saved):
		return other, nil
	}
	return inRing, nil
}

// Save implements Store.
func (k *keyringStore) Save(ctx context.Context, e *Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	key := Key{e.Server, e.URL}
	if err := k.Set(key.id(), string(text)); err == nil {
		return k.fallback.Delete(ctx, key)
	}
	return k.fallback.Save(ctx, e)
}

// Delete implements Store. A keyring that was there and cannot be reached now keeps its entry: that is an error, as the user wanted
// the entry gone.
func (k *keyringStore) Delete(ctx context.Context, key Key) error {
	err := k.Remove(key.id())
	k.mu.Lock()
	reached := k.reached
	k.mu.Unlock()
	if errors.Is(err, keyring.ErrNotFound) || !reached {
		err = nil
	}
	return errors.Join(err, k.fallback.Delete(ctx, key))
}
