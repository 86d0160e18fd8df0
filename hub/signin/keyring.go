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
	s := &keyringStore{ring: systemRing{}, log: logger, fallback: NewMemory()}
	if stateDir != "" {
		s.fallback = &fileStore{dir: filepath.Join(stateDir, "sign-in"), log: logger}
	}
	if err := sessionBus(); err != nil {
		s.giveUp(err)
	}
	return s
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

// keyringStore keeps an entry in the keyring if it can, else in the fallback; never knowingly in both. When both have one, as
// after a keyring that was away for a time, the younger counts.
type keyringStore struct {
	ring     ring
	log      *slog.Logger
	fallback Store

	mu      sync.Mutex // guards gone and reached
	gone    bool       // the keyring failed once, and is left alone for the rest of the run
	reached bool       // the keyring has answered once
}

func (k *keyringStore) giveUp(err error) {
	k.mu.Lock()
	told := k.gone
	k.gone = true
	k.mu.Unlock()
	if !told {
		k.log.Info("sign-ins are not kept in the system's keyring", "reason", printable(err.Error()))
	}
}

// use runs f within the limit. The library knows no contexts: what hangs in it cannot be ended. It keeps its goroutine, and the
// keyring is not asked again, so that this happens at most once for each call that was under way.
func (k *keyringStore) use(f func() (string, error)) (string, error) {
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

func (k *keyringStore) remove(key Key) error {
	_, err := k.use(func() (string, error) { return "", k.ring.Delete(keyringService, key.id()) })
	return err
}

// Load implements Store.
func (k *keyringStore) Load(ctx context.Context, key Key) (*Entry, error) {
	text, err := k.use(func() (string, error) { return k.ring.Get(keyringService, key.id()) })
	var inRing *Entry
	switch {
	case err == nil:
		if inRing, err = decodeEntry([]byte(text), key); err != nil {
			k.log.Warn("a kept sign-in is not used", "server", key.Server, "place", "keyring", "error", err.Error())
		}
	case errors.Is(err, keyring.ErrNotFound), errors.Is(err, errKeyringGone):
	default:
		k.giveUp(err)
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
	_, err = k.use(func() (string, error) { return "", k.ring.Set(keyringService, key.id(), string(text)) })
	if err == nil {
		return k.fallback.Delete(ctx, key)
	}
	switch {
	case errors.Is(err, keyring.ErrSetDataTooBig):
		// What is still there is older than what the fallback gets now.
		_ = k.remove(key)
	case !errors.Is(err, errKeyringGone):
		k.giveUp(err)
	}
	return k.fallback.Save(ctx, e)
}

// Delete implements Store. A keyring that was there and cannot be reached now keeps its entry: that is an error, as the user wanted
// the entry gone.
func (k *keyringStore) Delete(ctx context.Context, key Key) error {
	err := k.remove(key)
	k.mu.Lock()
	reached := k.reached
	k.mu.Unlock()
	if errors.Is(err, keyring.ErrNotFound) || !reached {
		err = nil
	}
	return errors.Join(err, k.fallback.Delete(ctx, key))
}
