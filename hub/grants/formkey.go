package grants

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/mcphub-go/mcphub/hub/statefile"
)

// formKey is a secret of the user. The values that a form does not show are part of it as sums with this key. With a
// plain hash, somebody who reads the form could find a value such as a short password by trying. All hubs of the user
// share the key; without a folder it lives as long as the hub.
type formKey struct {
	file *statefile.File

	mu  sync.Mutex // guards key
	key []byte     // nil until it was read or made
}

// keyBytes is the length of the key.
const keyBytes = 32

// keyText is the content of the file.
type keyText struct {
	Version int    `json:"version"`
	Key     string `json:"key"` // hex
}

func openFormKey(dir string, log *slog.Logger) *formKey {
	check := func(text []byte) error {
		if keyIn(text) == nil {
			return errors.New("it holds no key of the form that this hub writes")
		}
		return nil
	}
	o := statefile.Options{Logger: log, Version: 1, Check: check}
	return &formKey{file: statefile.Open(dir, "consent-key.json", o)}
}

func keyIn(text []byte) []byte {
	var k keyText
	if json.Unmarshal(text, &k) != nil || k.Version != 1 {
		return nil
	}
	key, err := hex.DecodeString(k.Key)
	if err != nil || len(key) != keyBytes {
		return nil
	}
	return key
}

// get returns the key, and makes one if no hub has made it. It may read and write a file.
func (k *formKey) get() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key != nil {
		return k.key
	}
	if text, err := k.file.Read(); err == nil {
		k.key = keyIn(text)
	}
	if k.key != nil {
		return k.key
	}
	fresh := make([]byte, keyBytes)
	rand.Read(fresh) // never fails
	text, err := json.Marshal(keyText{Version: 1, Key: hex.EncodeToString(fresh)})
	if err != nil {
		panic(err) // cannot happen: a number and a string marshal
	}
	// If several hubs start at once, one of them writes the key, and the others find it when they hold the lock. If the
	// disk does not take the key, it is valid in this hub only.
	_ = k.file.Update(func(old []byte) ([]byte, error) {
		if keyIn(old) != nil {
			return nil, nil
		}
		return append(text, '\n'), nil
	})
	if text, err := k.file.Read(); err == nil {
		k.key = keyIn(text)
	}
	if k.key == nil {
		k.key = fresh
	}
	return k.key
}

// keyedSum is like statefile.Sum, with a key.
func keyedSum(key []byte, texts ...string) string {
	h := hmac.New(sha256.New, key)
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}
