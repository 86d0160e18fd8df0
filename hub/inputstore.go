package hub

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// inputStore keeps the values of inputs: secret ones in the system's keyring if it takes them, all else in a file that
// only the user can read; in memory alone what the host keeps itself, and everything when the hub has no folder. Its
// values are never in a log, an event or an error.
type inputStore struct {
	list *statefile.List[string, inputKept]
	ring *signin.Keyring // nil: values are kept in the list
	log  *slog.Logger

	refresh func() // takes up what other hubs have written; tests hold it up

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

func (i inputKept) Key() string     { return inputID(i.File, i.Input) }
func (i inputKept) When() time.Time { return i.Time }

var inputForm = statefile.ListForm[inputKept]{File: "inputs.json", Member: "entries", What: "values of config inputs",
	Version: 1,
	Max:     1000, Room: 8 << 20}

// LogValue keeps the value out of logs.
func (i inputKept) LogValue() slog.Value { return slog.StringValue("input " + i.Input) }

func openInputs(dir string, log *slog.Logger) *inputStore {
	s := &inputStore{list: statefile.OpenList(dir, inputForm, log), log: log, byHost: map[string]inputKept{}}
	s.refresh = s.list.Refresh
	if dir != "" {
		s.ring = signin.OpenKeyring("secret inputs", log)
	}
	return s
}

// inputID names an input for the keyring and for Forget; it says nothing.
func inputID(file, input string) string { return "input-" + statefile.Sum(file, input)[:32] }

// get gives the value of an input. It may take as long as the keyring does.
func (s *inputStore) get(in config.Input) (string, bool) {
	id := inputID(in.Origin.File, in.ID)
	kept, ok := s.ofHost(id)
	if !ok {
		s.refresh()
		if kept, ok = s.list.Get(id); !ok {
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
		defer s.mu.Unlock()
		s.byHost[id] = kept
		return
	}
	if in.Secret && s.ring != nil && s.ring.Set(id, value) == nil {
		kept.Value = nil
	}
	s.list.Put(kept)
	s.list.Save()
}

func (s *inputStore) ofHost(id string) (inputKept, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.byHost[id]
	return kept, ok
}

func (s *inputStore) forgetOfHost(ids map[string]bool) (found map[string]bool) {
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

// forget removes the values with one of the ids wherever they are, and tells how many there were. What runs is not
// touched. It may write a file.
func (s *inputStore) forget(ids map[string]bool) int {
	found := s.forgetOfHost(ids)
	s.refresh()
	var inRing []string
	s.list.Drop(func(id string, kept inputKept) bool {
		if ids[id] {
			found[id] = true
			if kept.Value == nil && s.ring != nil {
				inRing = append(inRing, id)
			}
		}
		return ids[id]
	})
	s.list.Save()
	for _, id := range inRing {
		if err := s.ring.Remove(id); err != nil { // without its entry in the list it is not used any more
			s.log.Warn("a secret input was forgotten, and the system's keyring did not remove its value", "error", err.Error())
		}
	}
	return len(found)
}

// rememberedInputs lists the inputs that have a value; never the values.
func (h *Hub) rememberedInputs() (list []event.Remembered) {
	h.inputs.refresh()
	for id, kept := range h.inputs.list.All() {
		list = append(list, event.Remembered{ID: id, Kind: event.RememberedInput, InputID: kept.Input,
			Scope: event.ScopeAlways,
			Time:  kept.Time})
	}
	h.inputs.mu.Lock()
	defer h.inputs.mu.Unlock()
	for id, kept := range h.inputs.byHost {
		list = append(list, event.Remembered{ID: id, Kind: event.RememberedInput, InputID: kept.Input, Scope: event.ScopeOnce,
			Time: kept.Time})
	}
	return list
}
