package hub

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// inputStore keeps the values of inputs: secret ones in the system's keyring if it takes them, all else in a file that only the user can read; in
// memory alone what the host keeps itself, and everything when the hub has no folder. Its values are never in a log, an event or an error.
type inputStore struct {
	list *keptList[inputKept]
	ring *signin.Keyring // nil: values are kept in the list

	mu     sync.Mutex           // guards byHost
	byHost map[string]inputKept // what the host keeps
}

// inputKept is one value.
type inputKept struct {
	File  string `json:"file"`
	Input string `json:"input"`
	// Value is nil when the keyring has it.
	Value *string   `json:"value,omitempty"`
	Time  time.Time `json:"time"`
}

func (i inputKept) when() time.Time { return i.Time }

// LogValue keeps the value out of logs.
func (i inputKept) LogValue() slog.Value { return slog.StringValue("input " + i.Input) }

func openInputs(dir string, log *slog.Logger) *inputStore {
	s := &inputStore{list: openKept[inputKept](dir, "inputs.json", "values of config inputs", log), byHost: map[string]inputKept{}}
	if dir != "" {
		s.ring = signin.OpenKeyring("secret inputs", log)
	}
	return s
}

// inputID names an input for the keyring and for Forget; it says nothing.
func inputID(file, input string) string { return "input-" + sum(file, input)[:32] }

// get gives the value of an input. It may take as long as the keyring does.
func (s *inputStore) get(in config.Input) (string, bool) {
	id := inputID(in.Origin.File, in.ID)
	s.mu.Lock()
	kept, ok := s.byHost[id]
	s.mu.Unlock()
	if !ok {
		s.list.refresh()
		if kept, ok = s.list.get(id); !ok {
			return "", false
		}
	}
	if kept.Value != nil {
		return *kept.Value, true
	}
	if s.ring == nil {
		return "", false
	}
	value, err := s.ring.Get(id)
	return value, err == nil
}

// put keeps the value of an input, byHost only for the life of the hub.
func (s *inputStore) put(in config.Input, value string, byHost bool) {
	id := inputID(in.Origin.File, in.ID)
	kept := inputKept{File: in.Origin.File, Input: in.ID, Value: &value, Time: time.Now().UTC()}
	if byHost {
		s.mu.Lock()
		s.byHost[id] = kept
		s.mu.Unlock()
		return
	}
	if in.Secret && s.ring != nil && s.ring.Set(id, value) == nil {
		kept.Value = nil
	}
	s.list.put(id, kept)
}

// forget removes a value wherever it is; false: there is none.
func (s *inputStore) forget(id string) bool {
	s.mu.Lock()
	_, found := s.byHost[id]
	delete(s.byHost, id)
	s.mu.Unlock()
	s.list.refresh()
	if kept, ok := s.list.get(id); ok && kept.Value == nil && s.ring != nil {
		_ = s.ring.Remove(id) // without its entry in the list it is not used any more
	}
	return s.list.remove(id) || found
}

// rememberedInputs lists the inputs that have a value, oldest first; never the values.
func (h *Hub) rememberedInputs() (list []Remembered) {
	h.inputs.list.refresh()
	h.inputs.list.each(func(id string, kept inputKept) {
		list = append(list, Remembered{ID: id, Kind: RememberedInput, InputID: kept.Input, Scope: ScopeAlways, Time: kept.Time})
	})
	h.inputs.mu.Lock()
	defer h.inputs.mu.Unlock()
	for id, kept := range h.inputs.byHost {
		list = append(list, Remembered{ID: id, Kind: RememberedInput, InputID: kept.Input, Scope: ScopeOnce, Time: kept.Time})
	}
	return list
}

// forgetInput forgets one value by its id; false: there is none. What runs is not touched.
func (h *Hub) forgetInput(id string) bool { return h.inputs.forget(id) }
