package grants

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// An entry that was written through the contract is launched only after consent to exactly its form, whoever owns the
// file: a person decides what runs on this machine, and not a program that can call the hub (SEP-1024). So the hub
// notes an entry before it writes it, with its file. The sum in the note covers the name of the server and the form of
// the launch. The note is valid as long as the file still has the entry as it was written: an entry that a person has
// changed by hand has another form, and the same entry in a file that a person has written is the person's. A link or
// another path to the file does not avoid the note, nor does moving the file; who can copy it could also write.

// writings are the notes. If they cannot be read, every entry counts as noted: an unneeded question is better than
// none.
type writings struct{ file *statefile.File }

// maxWritten bounds the notes. If there are so many, no entry is written through the hub.
const maxWritten = 4096

// writtenText is the content of the file.
type writtenText struct {
	Version int           `json:"version"`
	Key     string        `json:"key"` // identifies the key of the sums
	Entries []writtenNote `json:"entries"`
}

type writtenNote struct {
	File   string    `json:"file"`
	Sum    string    `json:"sum"`
	By     string    `json:"by"`
	Hub    string    `json:"hub,omitempty"` // the hub that Window belongs to
	Window string    `json:"window,omitempty"`
	Time   time.Time `json:"time"`
}

var errWrittenForm = errors.New("it is no list of entries of the form that this hub writes")

func openWritten(dir string, log *slog.Logger) *writings {
	check := func(text []byte) error {
		_, err := decodeWritten(text)
		return err
	}
	return &writings{file: statefile.Open(dir, "written.json", statefile.Options{Logger: log, Version: 1, Check: check})}
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

// writtenSum returns the sum of a note: it covers the name, and what would be launched, but not the place of the entry.
func writtenSum(key []byte, conf config.Server) string {
	conf.Origin = config.Origin{Scope: "user"}
	return keyedSum(key, "written", conf.Name, conf.LaunchKey())
}

// keyName returns a name of the key that reveals nothing about it.
func keyName(key []byte) string { return keyedSum(key, "name")[:16] }

// Writers returns a function that says who had an entry written; it returns the zero Writer for an entry that no
// program wrote. The function is valid for one reading of the config. Writers may read files.
func (s *Store) Writers() func(config.Server) config.Writer {
	unknown := func(config.Server) config.Writer {
		return config.Writer{Name: "a program: the hub's notes of what was written through it cannot be read"}
	}
	text, err := s.written.file.Read()
	if errors.Is(err, syscall.ENOTDIR) { // then there is no directory in which notes could have been made
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
	bySum := make(map[string][]writtenNote, len(w.Entries))
	for _, n := range w.Entries {
		bySum[n.Sum] = append(bySum[n.Sum], n)
	}
	return func(conf config.Server) config.Writer {
		for _, n := range slices.Backward(bySum[writtenSum(key, conf)]) {
			if !maybeSame(n.File, conf.Origin.File) {
				continue
			}
			writer := config.Writer{Name: n.By}
			if n.Hub == s.hub {
				writer.Window = n.Window
			}
			return writer
		}
		return config.Writer{}
	}
}

// maybeSame reports whether two paths lead to the same file, or one of them cannot be looked at.
func maybeSame(a, b string) bool {
	if a == b {
		return true
	}
	first, err := os.Stat(a)
	if err != nil {
		return true
	}
	second, err := os.Stat(b)
	return err != nil || os.SameFile(first, second)
}

// NoteWritten notes that by is to write entry into a file. It is called before the entry is written. present are the
// entries that the file will have then; notes for the same file whose entries are not among them are dropped. An entry
// that could not be noted must not be written.
func (s *Store) NoteWritten(file string, entry config.Server, by config.Writer, present []config.Server) error {
	if _, err := s.written.file.Read(); err != nil {
		return err // to start with an empty file would lose the notes
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
