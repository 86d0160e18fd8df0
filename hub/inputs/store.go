package inputs

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Store keeps the values of inputs. Secret values are kept in the system's keyring if it accepts them, other values in
// a file that only the user can read. Values that the host keeps itself are kept in memory only, and so is everything
// if the hub has no folder. The values never appear in a log, an event or an error.
type Store struct {
	list *statefile.List[string, kept]
	ring *signin.Keyring // nil if values are kept in the list
	log  *slog.Logger

	redactor *redact.Redactor // gets each secret value before it is used

	// Refresh reads what other hubs have written. It is called before each look-up. Tests delay it.
	Refresh func()

	mu     sync.Mutex      // guards byHost
	byHost map[string]kept // the values that the host keeps
}

// kept is one value of an input.
type kept struct {
	File  string `json:"file"`
	Input string `json:"input"`
	// Value is nil if the value is in the keyring.
	Value *string   `json:"value,omitempty"`
	Time  time.Time `json:"time"`
}

func (i kept) Key() string     { return idOf(i.File, i.Input) }
func (i kept) When() time.Time { return i.Time }

var form = statefile.ListForm[kept]{File: "inputs.json", Member: "entries", Version: 1, Max: 1000,
	Room: 8 << 20}

// LogValue keeps the value out of logs.
func (i kept) LogValue() slog.Value { return slog.StringValue("input " + i.Input) }

// Open opens the store in the folder dir; "" = memory only.
func Open(dir string, redactor *redact.Redactor, log *slog.Logger) *Store {
	s := &Store{list: statefile.OpenList(dir, form, log), redactor: redactor, log: log, byHost: map[string]kept{}}
	s.Refresh = s.list.Refresh
	if dir != "" {
		s.ring = signin.OpenKeyring("secret inputs", log)
	}
	return s
}

// idOf returns the id of an input for the keyring and for Forget. It reveals neither file nor input.
func idOf(file, input string) string { return "input-" + statefile.Sum(file, input)[:32] }

// Get returns the stored value of an input, if it is still a permitted value. It may take as long as the keyring does.
func (s *Store) Get(in config.Input) (string, bool) {
	value, ok := s.get(in)
	if !ok || wrong(in.Options, value) != "" {
		return "", false
	}
	s.hide(in, value)
	return value, true
}

// Values returns the values of all inputs that a server refers to and that its file defines. It does not ask anybody.
func (s *Store) Values(conf config.Server) (map[string]string, error) {
	values := map[string]string{}
	for _, in := range Of(conf) {
		value, ok := s.Get(in)
		if !ok {
			return nil, Missing(conf.Name, in)
		}
		values[in.ID] = value
	}
	return values, nil
}

// Put stores the value that the content of an answer holds; with byHost, only for the life of the hub. It returns the
// value, and false if the content holds none, see Wrong. It may write a file.
func (s *Store) Put(in config.Input, content string, byHost bool) (string, bool) {
	value, ok := valueIn(content)
	if ok {
		s.hide(in, value)
		s.put(in, value, byHost)
	}
	return value, ok
}

// hide adds a secret value to the redactor, before the value is used.
func (s *Store) hide(in config.Input, value string) {
	if in.Secret {
		s.redactor.Add(value)
	}
}

func (s *Store) get(in config.Input) (string, bool) {
	id := idOf(in.Origin.File, in.ID)
	k, ok := s.ofHost(id)
	if !ok {
		s.Refresh()
		if k, ok = s.list.Get(id); !ok {
			return "", false
		}
	}
	if k.Value != nil {
		return *k.Value, true
	}
	if s.ring == nil {
		return "", false
	}
	value, err := s.ring.Get(id)
	return value, err == nil
}

func (s *Store) put(in config.Input, value string, byHost bool) {
	id := idOf(in.Origin.File, in.ID)
	k := kept{File: in.Origin.File, Input: in.ID, Value: &value, Time: time.Now().UTC()}
	if byHost {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.byHost[id] = k
		return
	}
	if in.Secret && s.ring != nil && s.ring.Set(id, value) == nil {
		k.Value = nil
	}
	s.list.Put(k)
	s.forgetOfHost(map[string]bool{id: true}) // a value of the host would take precedence over this one
	s.list.Save()
}

func (s *Store) ofHost(id string) (kept, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.byHost[id]
	return k, ok
}

func (s *Store) forgetOfHost(ids map[string]bool) (found map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found = map[string]bool{}
	for id := range s.byHost {
		if ids[id] {
			found[id] = true
			delete(s.byHost, id)
		}
	}
	return found
}

// Forget removes the values with one of the ids from wherever they are kept, and returns how many it removed. It does
// not affect running servers. It may write a file.
func (s *Store) Forget(ids map[string]bool) int {
	found := s.forgetOfHost(ids)
	s.Refresh()
	var inRing []string
	s.list.Drop(func(id string, k kept) bool {
		if ids[id] {
			found[id] = true
			if k.Value == nil && s.ring != nil {
				inRing = append(inRing, id)
			}
		}
		return ids[id]
	})
	s.list.Save()
	for _, id := range inRing {
		if err := s.ring.Remove(id); err != nil { // without its entry in the list the value is not used any more
			s.log.Warn("a secret input was forgotten, and the system's keyring did not remove its value", "error", err.Error())
		}
	}
	return len(found)
}

// Remembered returns the inputs that have a value, without the values. It may read a file.
func (s *Store) Remembered() (list []event.Remembered) {
	s.Refresh()
	for id, k := range s.list.All() {
		list = append(list, event.Remembered{ID: id, Kind: event.RememberedInput, InputID: k.Input,
			Scope: event.ScopeAlways, Time: k.Time})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, k := range s.byHost {
		list = append(list, event.Remembered{ID: id, Kind: event.RememberedInput, InputID: k.Input,
			Scope: event.ScopeOnce, Time: k.Time})
	}
	return list
}
