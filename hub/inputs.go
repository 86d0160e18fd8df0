package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// errNotGiven is returned if the user was asked for a value and gave none.
var errNotGiven = errors.New("the user gave no value")

// inputValues returns the values of the inputs that conf refers to, from the store or from the user, one after the
// other. An input that its file does not define is left out; resolving reports it.
func (h *Hub) inputValues(ctx context.Context, s *server, conf config.Server, byHand bool) (map[string]string, error) {
	var values map[string]string
	for _, in := range inputsOf(conf) {
		value, err := h.share(ctx, searchKey{file: in.Origin.File, input: in.ID}, s, func(t *search) (string, error) {
			return h.findInput(ctx, s, in, t, byHand)
		})
		if errors.Is(err, errNotGiven) {
			err = errInputMissing(s.name, in)
		}
		if err != nil {
			return nil, err
		}
		if values == nil {
			values = map[string]string{}
		}
		values[in.ID] = value
	}
	return values, nil
}

// findInput returns the value of one input, on behalf of all starts that wait for it.
func (h *Hub) findInput(ctx context.Context, s *server, in config.Input, t *search, byHand bool) (string, error) {
	if value, ok := h.inputs.Get(in); ok {
		return value, nil
	}
	for {
		h.within(func() { in = inputNow(&s.conf, in) })
		answer, err := h.askAboutServer(ctx, s, &serverQuestion{
			info: event.PromptInfo{Kind: event.PromptConfigInput, Input: inputQuestion(in)}, with: t,
			byHand: func() bool { return byHand },
		})
		switch {
		case err != nil:
			return "", ofAll(err)
		case answer.cause == event.CauseSuperseded: // the input has changed, or the last window left and another one came
			continue
		case answer.cause != event.CauseAnswered:
			return "", errNotGiven
		}
		if value, ok := h.inputs.Put(in, answer.content, answer.byHost); ok { // Answer has checked the content
			return value, nil
		}
		return "", errNotGiven
	}
}

// maxBytes bounds a value that the user gives, since the value has to fit into an environment.
const maxBytes = 64 << 10

// inputsOf returns the inputs that a server refers to and that its file defines, in the order of their first use.
func inputsOf(conf config.Server) (list []config.Input) {
	for _, id := range conf.InputIDs() {
		if i := slices.IndexFunc(conf.Inputs, func(in config.Input) bool { return in.ID == id }); i >= 0 {
			list = append(list, conf.Inputs[i])
		}
	}
	return list
}

// inputNow returns an input as a config defines it now. If the config does not define an input with its file and id, it
// returns the input unchanged.
func inputNow(conf *config.Server, in config.Input) config.Input {
	if now, ok := findInput(conf, in.Origin.File, in.ID); ok {
		return now
	}
	return in
}

func findInput(conf *config.Server, file, id string) (config.Input, bool) {
	i := slices.IndexFunc(conf.Inputs, func(in config.Input) bool { return in.ID == id && in.Origin.File == file })
	if i < 0 {
		return config.Input{}, false
	}
	return conf.Inputs[i], true
}

// inputQuestion returns the question with which a person is asked for an input.
func inputQuestion(in config.Input) *event.InputQuestion {
	q := &event.InputQuestion{
		InputID: in.ID, Description: in.Description, Secret: in.Secret, Default: in.Default, ConfigFile: in.Origin.File,
		ConfigLine: in.Origin.Line,
	}
	for _, o := range in.Options {
		q.Options = append(q.Options, event.InputOption{Value: o.Value, Label: o.Label})
	}
	return q
}

// inputChanged reports whether a config now asks for the input of q in another way. The place of the input in its file
// does not matter.
func inputChanged(conf *config.Server, q *event.InputQuestion) bool {
	in, ok := findInput(conf, q.ConfigFile, q.InputID)
	return ok && !sameQuestion(inputQuestion(in), q)
}

func sameQuestion(a, b *event.InputQuestion) bool {
	return a.Description == b.Description && a.Secret == b.Secret && a.Default == b.Default &&
		slices.Equal(a.Options, b.Options) && (a.Options == nil) == (b.Options == nil)
}

// wrongInput returns what is wrong with the content of an answer, "" if nothing is. It does not quote the content.
func wrongInput(q *event.InputQuestion, content string) string {
	value, ok := "", false
	if len(content) <= 6*maxBytes { // each byte may be escaped
		value, ok = valueIn(content)
	}
	if !ok {
		return "the value of an input is a JSON string"
	}
	var options []config.InputOption
	for _, o := range q.Options {
		options = append(options, config.InputOption{Value: o.Value})
	}
	return wrongOption(options, value)
}

func valueIn(content string) (string, bool) {
	value := []byte(strings.TrimSpace(content))
	if !jsontext.IsString(value) || !jsontext.Valid(value) {
		return "", false
	}
	return jsontext.String(value), true
}

// wrongOption returns why value is not permitted for an input, "" if it is.
func wrongOption(options []config.InputOption, value string) string {
	switch {
	case len(value) > maxBytes:
		return fmt.Sprintf("the value of an input has at most %d bytes", maxBytes)
	case strings.ContainsRune(value, 0):
		return "the value of an input must not hold a zero byte"
	case options != nil && !slices.ContainsFunc(options, func(o config.InputOption) bool { return o.Value == value }):
		return "the value is none of the options"
	}
	return ""
}

// errInputMissing returns the error for a server that was not started because an input has no value.
func errInputMissing(server string, in config.Input) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonInputMissing,
		[]string{"server", server, "input", bounds.Printable(in.ID)},
		"server %q was not started: the input %q (%s:%d) has no value; start the server to be asked for it", server,
		bounds.Printable(in.ID), in.Origin.File, in.Origin.Line)
}

// inputStore keeps the values of inputs. Secret values are kept in the system's keyring if it accepts them, other
// values in a file that only the user can read. Values that the host keeps itself are kept in memory only, and so is
// everything if the hub has no folder. The values never appear in a log, an event or an error.
type inputStore struct {
	list *statefile.List[string, keptInput]
	ring *signin.Keyring // nil if values are kept in the list
	log  *slog.Logger

	redactor *redact.Redactor // gets each secret value before it is used

	// Refresh reads what other hubs have written. It is called before each look-up. Tests delay it.
	refresh func()

	mu     sync.Mutex           // guards byHost
	byHost map[string]keptInput // the values that the host keeps
}

// keptInput is one value of an input.
type keptInput struct {
	File  string `json:"file"`
	Input string `json:"input"`
	// Value is nil if the value is in the keyring.
	Value *string   `json:"value,omitempty"`
	Time  time.Time `json:"time"`
}

func (i keptInput) Key() string     { return idOf(i.File, i.Input) }
func (i keptInput) When() time.Time { return i.Time }

var inputForm = statefile.ListForm[keptInput]{File: "inputs.json", Member: "entries", Version: 1, Max: 1000,
	Room: 8 << 20}

// LogValue keeps the value out of logs.
func (i keptInput) LogValue() slog.Value { return slog.StringValue("input " + i.Input) }

// openInputs opens the store in the folder dir; "" = memory only.
func openInputs(dir string, redactor *redact.Redactor, log *slog.Logger) *inputStore {
	s := &inputStore{list: statefile.OpenList(dir, inputForm, log), redactor: redactor, log: log,
		byHost: map[string]keptInput{}}
	s.refresh = s.list.Refresh
	if dir != "" {
		s.ring = signin.OpenKeyring("secret inputs", log)
	}
	return s
}

// idOf returns the id of an input for the keyring and for Forget. It reveals neither file nor input.
func idOf(file, input string) string { return "input-" + statefile.Sum(file, input)[:32] }

// Get returns the stored value of an input, if it is still a permitted value. It may take as long as the keyring does.
func (s *inputStore) Get(in config.Input) (string, bool) {
	value, ok := s.get(in)
	if !ok || wrongOption(in.Options, value) != "" {
		return "", false
	}
	s.hide(in, value)
	return value, true
}

// values returns the values of all inputs that a server refers to and that its file defines. It does not ask anybody.
func (s *inputStore) values(conf config.Server) (map[string]string, error) {
	values := map[string]string{}
	for _, in := range inputsOf(conf) {
		value, ok := s.Get(in)
		if !ok {
			return nil, errInputMissing(conf.Name, in)
		}
		values[in.ID] = value
	}
	return values, nil
}

// Put stores the value that the content of an answer holds; with byHost, only for the life of the hub. It returns the
// value, and false if the content holds none, see Wrong. It may write a file.
func (s *inputStore) Put(in config.Input, content string, byHost bool) (string, bool) {
	value, ok := valueIn(content)
	if ok {
		s.hide(in, value)
		s.put(in, value, byHost)
	}
	return value, ok
}

// hide adds a secret value to the redactor, before the value is used.
func (s *inputStore) hide(in config.Input, value string) {
	if in.Secret {
		s.redactor.Add(value)
	}
}

func (s *inputStore) get(in config.Input) (string, bool) {
	id := idOf(in.Origin.File, in.ID)
	k, ok := s.ofHost(id)
	if !ok {
		s.refresh()
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

func (s *inputStore) put(in config.Input, value string, byHost bool) {
	id := idOf(in.Origin.File, in.ID)
	k := keptInput{File: in.Origin.File, Input: in.ID, Value: &value, Time: time.Now().UTC()}
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

func (s *inputStore) ofHost(id string) (keptInput, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.byHost[id]
	return k, ok
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

// forget removes the values with one of the ids from wherever they are kept, and returns how many it removed. It does
// not affect running servers. It may write a file.
func (s *inputStore) forget(ids map[string]bool) int {
	found := s.forgetOfHost(ids)
	s.refresh()
	var inRing []string
	s.list.Drop(func(id string, k keptInput) bool {
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

// remembered returns the inputs that have a value, without the values. It may read a file.
func (s *inputStore) remembered() (list []event.Remembered) {
	s.refresh()
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
