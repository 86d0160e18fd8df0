package grants

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// An entry that was written through the contract is launched only after a yes to just its form, whoever's file it
// stands in: what runs on this machine a person decides, and no program that can call the hub (SEP-1024). So the hub
// notes what it is to write before it writes it. The note is about the name and the form of the launch, in whatever
// file, so that no link, copy or other way to the file leads around it. It holds for as long as the file of which it
// was made says so: what a person changes by hand is another form.

// writings are the notes. What cannot be read holds for every entry: better one question too many.
type writings struct{ file *statefile.File }

// maxWritten bounds the notes; beyond it nothing is written through the hub.
const maxWritten = 4096

// writtenText is the form of the file.
type writtenText struct {
	Version int           `json:"version"`
	Key     string        `json:"key"` // names the secret that the sums are made with
	Entries []writtenNote `json:"entries"`
}

type writtenNote struct {
	File   string    `json:"file"`
	Sum    string    `json:"sum"`
	By     string    `json:"by"`
	Hub    string    `json:"hub,omitempty"` // whose window it was
	Window string    `json:"window,omitempty"`
	Time   time.Time `json:"time"`
}

var errWrittenForm = errors.New("it is no list of entries of the form that this hub writes")

func openWritten(dir string, log *slog.Logger) *writings {
	check := func(text []byte) error {
		_, err := decodeWritten(text)
		return err
	}
	return &writings{file: statefile.Open(dir, "written.json", statefile.Options{Logger: log, Check: check})}
}

func decodeWritten(text []byte) (w writtenText, err error) {
	if len(text) == 0 {
		return w, nil
	}
	if json.Unmarshal(text, &w) != nil || w.Version != 1 {
		return w, errWrittenForm
	}
	return w, nil
}

// writtenSum is what a note is about: a name, and what would be launched, without where it stands.
func writtenSum(key []byte, conf config.Server) string {
	conf.Origin = config.Origin{Scope: "user"}
	return keyedSum(key, "written", conf.Name, conf.LaunchKey())
}

// keyName names the key and tells nothing of it.
func keyName(key []byte) string { return keyedSum(key, "name")[:16] }

// Writers gives who had entries written, for one look at the config: the zero Writer for those that no program wrote.
// It may read files.
func (s *Store) Writers() func(config.Server) config.Writer {
	unknown := func(config.Server) config.Writer {
		return config.Writer{Name: "a program: the hub's notes of what was written through it cannot be read"}
	}
	text, err := s.written.file.Read()
	if errors.Is(err, syscall.ENOTDIR) { // there is no place where notes could have been made
		err = nil
	}
	if err != nil {
		return unknown
	}
	w, err := decodeWritten(text)
	if err != nil {
		return unknown
	}
	if len(w.Entries) == 0 {
		return func(config.Server) config.Writer { return config.Writer{} }
	}
	key := s.formKey.get()
	if w.Key != keyName(key) {
		return unknown
	}
	by := make(map[string]config.Writer, len(w.Entries))
	for _, n := range w.Entries {
		writer := config.Writer{Name: n.By}
		if n.Hub == s.hub {
			writer.Window = n.Window
		}
		by[n.Sum] = writer
	}
	return func(conf config.Server) config.Writer { return by[writtenSum(key, conf)] }
}

// NoteWritten notes that an entry is to be written into a file by somebody, before it is. present are the entries that
// the file will have then: notes of others in it are dropped. What is not noted must not be written.
func (s *Store) NoteWritten(file string, entry config.Server, by config.Writer, present []config.Server) error {
	if _, err := s.written.file.Read(); err != nil {
		return err // to begin anew would forget what was noted
	}
	key := s.formKey.get()
	there := map[string]bool{}
	for _, conf := range present {
		there[writtenSum(key, conf)] = true
	}
	note := writtenNote{File: file, Sum: writtenSum(key, entry), By: by.Name, Time: time.Now().UTC()}
	if by.Window != "" {
		note.Hub, note.Window = s.hub, by.Window
	}
	return s.written.file.Update(func(old []byte) ([]byte, error) {
		w, err := decodeWritten(old)
		if err != nil {
			return nil, err
		}
		if len(w.Entries) > 0 && w.Key != keyName(key) {
			return nil, errors.New("the hub's secret for its notes is another one than they were made with")
		}
		kept := []writtenNote{}
		for _, n := range w.Entries {
			if n.File == file && (n.Sum == note.Sum || !there[n.Sum]) {
				continue
			}
			kept = append(kept, n)
		}
		if len(kept) >= maxWritten {
			return nil, fmt.Errorf("%d entries that were written through the hub are noted, which is the most; "+
				"take some out of their files", len(kept))
		}
		text, err := json.MarshalIndent(writtenText{Version: 1, Key: keyName(key), Entries: append(kept, note)}, "", "  ")
		return append(text, '\n'), err
	})
}
