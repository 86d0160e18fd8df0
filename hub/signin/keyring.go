package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

const (
	keyringService = "mcphub"
	// keyringLimit bounds each use of the keyring: the Secret Service may wait for a person to unlock it, or hang.
	keyringLimit = 2 * time.Second
)

var (
	errKeyringSlow  = errors.New("the system's keyring does not answer")
	errNoSessionBus = errors.New("there is no session bus")
)

// keyringGoneError is returned for a keyring that is not used any more.
type keyringGoneError struct{ why error }

func (e *keyringGoneError) Error() string {
	return "the system's keyring is not used: " + e.why.Error()
}
func (e *keyringGoneError) Unwrap() error { return e.why }

// ring has the functions of the keyring library that are used.
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

// OpenStore returns the store for a hub. It is the keyring of the system, and for what the keyring does not take, a
// directory below stateDir that only the user can read. If stateDir is empty, it is the keyring, or memory if there is
// none. Nothing is read or written before the first use. A nil logger discards the records.
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

// Keyring is the keyring of the system. It can block nobody: the time of each use is bounded, and after a failure it is
// not used any more. It may be used concurrently.
type Keyring struct {
	ring ring
	log  *slog.Logger
	what string // what is kept in it, for the log

	mu   sync.Mutex // guards gone
	gone error      // why the keyring is not used for the rest of the run, because it failed once; nil if it is used
}

// OpenKeyring returns the keyring. what names, in the plural, what is kept in it. If there is no keyring, this is
// logged once.
func OpenKeyring(what string, logger *slog.Logger) *Keyring {
	k := &Keyring{ring: systemRing{}, log: logger, what: what}
	if err := sessionBus(); err != nil {
		k.giveUp(err)
	}
	return k
}

// Get returns what is kept under id. It returns an error if there is nothing, or no keyring.
func (k *Keyring) Get(id string) (string, error) {
	text, err := k.use(func() (string, error) { return k.ring.Get(keyringService, id) })
	if err != nil && !errors.Is(err, keyring.ErrNotFound) && !isKeyringGone(err) {
		k.giveUp(err)
	}
	return text, err
}

// Set stores text under id. An error means that it is not stored; an earlier text may still be there.
func (k *Keyring) Set(id, text string) error {
	_, err := k.use(func() (string, error) { return "", k.ring.Set(keyringService, id, text) })
	switch {
	case err == nil:
	case errors.Is(err, keyring.ErrSetDataTooBig):
		// What is still there is older than the text that the caller stores elsewhere.
		_ = k.Remove(id)
	case !isKeyringGone(err):
		k.giveUp(err)
	}
	return err
}

// Remove removes what is kept under id. It returns nil if there is nothing, or no keyring on this computer that could
// have it. An error means that it may still be there.
func (k *Keyring) Remove(id string) error {
	_, err := k.use(func() (string, error) { return "", k.ring.Delete(keyringService, id) })
	if err == nil || errors.Is(err, keyring.ErrNotFound) || noKeyring(err) {
		return nil
	}
	return fmt.Errorf("the entry %q of %q may still be in the system's keyring; remove it there: %s", id, keyringService,
		bounds.Printable(err.Error()))
}

func isKeyringGone(err error) bool {
	var gone *keyringGoneError
	return errors.As(err, &gone)
}

// noKeyring reports whether err says that this session has no keyring. Any other failure, such as a locked keyring, may
// end, and then its content is found again.
func noKeyring(err error) bool {
	var dial *net.OpError // there is no bus
	return errors.Is(err, errNoSessionBus) || errors.Is(err, keyring.ErrUnsupportedPlatform) || errors.As(err, &dial) &&
		dial.Op == "dial" ||
		// the answer of a bus without the Secret Service
		strings.Contains(err.Error(), "was not provided by any .service files")
}

// sessionBus returns an error if the bus is missing that the keyring library needs on systems with the Secret Service.
// Without it, the library would start a bus of its own with dbus-launch, which would outlive the hub and has no
// keyring.
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
	told := k.gone != nil
	if !told {
		k.gone = err
	}
	k.mu.Unlock()
	if !told {
		k.log.Info(k.what+" are not kept in the system's keyring", "reason", bounds.Printable(err.Error()))
	}
}

// use runs f within the limit. The library does not use contexts, so a call that hangs cannot be ended: its goroutine
// stays. The keyring is not used again after that, so this happens at most once for each concurrent call.
func (k *Keyring) use(f func() (string, error)) (string, error) {
	k.mu.Lock()
	gone := k.gone
	k.mu.Unlock()
	if gone != nil {
		return "", &keyringGoneError{gone}
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
		return r.text, r.err
	case <-limit.C:
		k.giveUp(errKeyringSlow)
		return "", errKeyringSlow
	}
}

// keyringStore keeps an entry in the keyring if it can, else in the fallback, and never knowingly in both. If both have
// one, as after a time without the keyring, the younger one counts. If both have the same time, the one of the fallback
// counts: the fallback is emptied whenever the keyring has taken an entry.
type keyringStore struct {
	*Keyring
	fallback Store
}

// Lock implements Store. A keyring has no locks, so the fallback has the lock for both. Without a directory that only
// keeps the SignIns of this hub apart.
func (k *keyringStore) Lock(ctx context.Context, key Key) (unlock func(), err error) {
	return k.fallback.Lock(ctx, key)
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
	found := inRing
	if inRing == nil || other != nil && !other.Saved.Before(inRing.Saved) {
		found = other
	} else {
		err = nil
	}
	if found != nil && found.Issuer == issuerNone {
		return nil, err
	}
	return found, err
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

// Delete implements Store. If the keyring did not remove the entry, it is not used any more, in the next run neither:
// an entry without tokens is saved in the fallback, which is younger and therefore counts. Delete returns an error if
// the keyring may still have the tokens, because the user wanted them to be removed.
func (k *keyringStore) Delete(ctx context.Context, key Key) error {
	removed := k.Remove(key.id())
	k.mu.Lock()
	sure := removed == nil && k.gone == nil
	k.mu.Unlock()
	if sure {
		return k.fallback.Delete(ctx, key)
	}
	return errors.Join(removed, k.fallback.Save(ctx, signedOut(key)))
}

// issuerNone marks an entry of a user who has signed out. It is not a URL of an authorization server, so releases that
// do not know the mark find nothing in the entry that they could use.
const issuerNone = "signed-out:"

func signedOut(key Key) *Entry {
	return &Entry{Server: key.Server, URL: key.URL, Issuer: issuerNone, Saved: time.Now().UTC()}
}
