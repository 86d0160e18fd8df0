package results

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// ErrNotKept says that there is no such result, or none any more.
var ErrNotKept = errors.New("this result is not kept any more: it is older than 7 days, had to make room for others, or " +
	"never was")

// Store keeps results. All methods are safe for concurrent use, by several processes too.
type Store struct {
	log       *slog.Logger
	folder    func() (string, error) // where they are; a temporary folder is made by it, once
	temporary bool                   // without a state directory: the folder goes with the process
	limits    limits
	writing   sync.WaitGroup // added to with mu held, while closed is false

	mu       sync.Mutex // never held over the disk
	bytes    int64      // of what was kept since the last look at the folder, and of what was there
	files    int        // as bytes
	looked   time.Time
	clearing bool // somebody looks at the folder
	made     bool // there may be something in it
	closed   bool
}

// limits are those of package bounds; tests have smaller ones.
type limits struct {
	bytes int64
	files int
	age   time.Duration
}

// Open gives the store of the results in a state directory; with "" they are kept until Close. Nothing is read or made
// yet. nil discards the log.
func Open(stateDir string, log *slog.Logger) *Store { return OpenFolder(stateDir, "results", log) }

// OpenFolder is Open for texts that have a folder of their own in the state directory.
func OpenFolder(stateDir, name string, log *slog.Logger) *Store {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{log: log, temporary: stateDir == "",
		limits: limits{bounds.KeptResultsBytes, bounds.KeptResults, bounds.KeptResultsAge}}
	s.folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "mcphub-results-") })
	if stateDir != "" {
		dir := filepath.Join(stateDir, name)
		s.folder = func() (string, error) { return dir, nil }
	}
	return s
}

// idForm is what an id looks like: nothing else becomes part of a path.
var idForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// Keep keeps a result and gives the id under which it is read. When it cannot be kept the log says why.
func (s *Store) Keep(result []byte) (id string, err error) {
	size := int64(len(result))
	full, err := s.enter(size)
	if err != nil {
		return "", err
	}
	defer s.writing.Done()
	dir, err := s.folder()
	if err == nil && !s.temporary {
		err = os.MkdirAll(dir, 0o700) // each time: somebody may have cleared it away
	}
	if err == nil {
		if full {
			s.clear(dir, size)
		}
		id = rand.Text()
		err = write(filepath.Join(dir, id), result)
	}
	if err != nil {
		s.log.Warn("a long result is not kept: its rest cannot be read", "error", err.Error())
		return "", err
	}
	return id, nil
}

// enter counts a result, and tells whether the caller must clear the folder first.
func (s *Store) enter(size int64) (full bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, fs.ErrClosed
	}
	s.writing.Add(1)
	s.made = true
	s.bytes, s.files = s.bytes+size, s.files+1
	full = !s.clearing && (s.looked.IsZero() || time.Since(s.looked) > time.Hour || s.bytes > s.limits.bytes ||
		s.files > s.limits.files)
	s.clearing = s.clearing || full
	return full, nil
}

// clear removes what is too old, and the oldest of what is too much once size bytes more are kept. One at a time does
// so; what others keep meanwhile counts for the next.
func (s *Store) clear(dir string, size int64) {
	bytes, files := size, 1
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bytes, s.files, s.looked, s.clearing = bytes, files, time.Now(), false
	}()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // nothing is known of it: the next one tries again when there is too much
	}
	now := time.Now()
	var kept []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !idForm.MatchString(strings.TrimSuffix(e.Name(), unfinished)) {
			continue // not ours, or gone
		}
		if now.Sub(info.ModTime()) > s.limits.age {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may have done so
			continue
		}
		kept = append(kept, info)
		bytes, files = bytes+info.Size(), files+1
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	// A quarter more than is needed goes, so that the folder is not looked through for each result.
	most, mostFiles := s.limits.bytes, s.limits.files
	if bytes > most || files > mostFiles {
		most, mostFiles = most-most/4, mostFiles-mostFiles/4
	}
	for _, info := range kept {
		if bytes <= most && files <= mostFiles {
			return
		}
		_ = os.Remove(filepath.Join(dir, info.Name()))
		bytes, files = bytes-info.Size(), files-1
	}
}

// unfinished is the end of the name of a file that is being written.
const unfinished = ".new"

func write(path string, text []byte) error {
	f, err := os.OpenFile(path+unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(path+unfinished, path)
	}
	if err != nil {
		_ = os.Remove(path + unfinished)
	}
	return err
}

// Close waits for what is being written; without a state directory it removes the folder. Nothing is kept any more.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	made := s.made
	s.mu.Unlock()
	s.writing.Wait()
	if s.temporary && made {
		if dir, err := s.folder(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
}
