package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// ErrNotKept is returned if there is no such result, or if it is no longer kept.
var ErrNotKept = errors.New("this result is not kept any more: it is older than 7 days, had to make room for others, or " +
	"never was")

// Results keeps results. All methods are safe for concurrent use, also by several processes.
type Results struct {
	log       *slog.Logger
	folder    func() (string, error) // returns the folder of the results; it makes a temporary folder, once
	temporary bool                   // there is no state directory, so Close removes the folder
	limits    resultLimits
	writing   sync.WaitGroup // added to with mu held, while closed is false

	mu       sync.Mutex // never held while the disk is accessed
	bytes    int64      // bytes in the folder at the last look, and bytes that were kept since then
	files    int        // number of files, counted as bytes is
	looked   time.Time
	clearing bool // a goroutine is clearing the folder
	made     bool // something may have been written
	closed   bool
}

// resultLimits are the limits of package bounds; tests use smaller ones.
type resultLimits struct {
	bytes int64
	files int
	age   time.Duration
}

// OpenResults returns the store of the results in a folder of the state directory. With "" as the latter, results are
// kept until Close. OpenResults reads and makes no files. A nil log discards the records.
func OpenResults(stateDir, folder string, log *slog.Logger) *Results {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Results{log: log, temporary: stateDir == "",
		limits: resultLimits{bounds.KeptResultsBytes, bounds.KeptResults, bounds.KeptResultsAge}}
	s.folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "mcphub-results-") })
	if stateDir != "" {
		dir := filepath.Join(stateDir, folder)
		s.folder = func() (string, error) { return dir, nil }
	}
	return s
}

// idForm is the form of ids. Nothing else becomes part of a path.
var idForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// Keep stores a result and returns the id under which it can be read. If it cannot be stored, the log says why.
func (s *Results) Keep(result []byte) (id string, err error) {
	size := int64(len(result))
	full, err := s.enter(size)
	if err != nil {
		return "", err
	}
	defer s.writing.Done()
	dir, err := s.folder()
	if err == nil && !s.temporary {
		err = os.MkdirAll(dir, 0o700) // each time, since somebody may have removed it
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

// enter counts a result, and reports whether the caller must clear the folder first.
func (s *Results) enter(size int64) (full bool, err error) {
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

// clear removes the files that are too old, and the oldest ones if there is too much, counting size bytes more. Only
// one goroutine clears at a time. What others keep meanwhile is counted the next time.
func (s *Results) clear(dir string, size int64) {
	bytes, files := size, 1
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bytes, s.files, s.looked, s.clearing = bytes, files, time.Now(), false
	}()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the content is unknown; it is tried again when there is too much
	}
	now := time.Now()
	var kept []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !idForm.MatchString(strings.TrimSuffix(e.Name(), unfinished)) {
			continue // not a result, or gone
		}
		if now.Sub(info.ModTime()) > s.limits.age {
			_ = os.Remove(filepath.Join(dir, e.Name())) // fails if another process has removed it
			continue
		}
		kept = append(kept, info)
		bytes, files = bytes+info.Size(), files+1
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	// It removes a quarter more than necessary, so that not every new result causes a look through the folder.
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

// unfinished is the suffix of the name of a file that is being written.
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

// Close waits for the writes that are running. Without a state directory it removes the folder. After it nothing is
// kept any more.
func (s *Results) Close() {
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

// find returns the path of a result and its size, or ErrNotKept if there is no such result.
func (s *Results) find(id string) (path string, size int64, err error) {
	s.mu.Lock()
	made := s.made || !s.temporary
	s.mu.Unlock()
	if !made || !idForm.MatchString(id) {
		return "", 0, ErrNotKept
	}
	dir, err := s.folder()
	if err != nil {
		return "", 0, ErrNotKept
	}
	path = filepath.Join(dir, id)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) > s.limits.age {
		return "", 0, ErrNotKept
	}
	if info.Size() > s.limits.bytes {
		return "", 0, fmt.Errorf("the file of the result has %d bytes", info.Size())
	}
	return path, info.Size(), nil
}

// Read returns the whole result, or ErrNotKept if there is none.
func (s *Results) Read(id string) ([]byte, error) {
	path, _, err := s.find(id)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotKept
	}
	return text, err
}

// ReadPiece is PieceOf for a result. It does not read more of the file than it needs.
func (s *Results) ReadPiece(id string, offset int64, limit int) (Piece, error) {
	path, size, err := s.find(id)
	if err != nil {
		return Piece{}, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Piece{}, ErrNotKept
	}
	if err != nil {
		return Piece{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	offset, limit = min(max(offset, 0), size), atMost(limit)
	// A few bytes more on both sides, since a piece begins and ends between characters.
	base := max(offset-utf8.UTFMax, 0)
	around := make([]byte, min(offset+int64(limit)+utf8.UTFMax, size)-base)
	if _, err := f.ReadAt(around, base); err != nil && !errors.Is(err, io.EOF) {
		return Piece{}, err
	}
	p := PieceOf(around, offset-base, limit)
	if end := base + p.Offset + int64(len(p.Text)); end < size {
		p.Next = end
	} else {
		p.Next = 0
	}
	p.Offset, p.Size = base+p.Offset, size
	return p, nil
}

// Remove deletes a result.
func (s *Results) Remove(id string) {
	path, size, err := s.find(id)
	if err != nil || os.Remove(path) != nil {
		return // if it cannot be deleted now, it is deleted once it is too old
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes, s.files = s.bytes-size, s.files-1
}

// Piece is a part of a text.
type Piece struct {
	Text   string
	Offset int64 // in bytes
	Next   int64 // where the next piece begins; 0 if there is none
	Size   int64 // bytes of the whole text
}

// PieceOf returns a piece of at most limit bytes of a text. It begins and ends between characters, and has at least one
// character, so that a reader comes to the end. A limit of 0, or of more than bounds.PieceBytes, means
// bounds.PieceBytes.
func PieceOf[T ~string | ~[]byte](text T, offset int64, limit int) Piece {
	limit = atMost(limit)
	size := len(text)
	from := int(min(max(offset, 0), int64(size)))
	from = beginning(text, from)
	to := max(beginning(text, min(from+limit, size)), from)
	if to == from && from < size {
		_, n := utf8.DecodeRuneInString(string(text[from:min(from+utf8.UTFMax, size)]))
		to = from + n
	}
	p := Piece{Text: string(text[from:to]), Offset: int64(from), Size: int64(size)}
	if to < size {
		p.Next = int64(to)
	}
	return p
}

// atMost returns the limit that counts if limit was asked for.
func atMost(limit int) int {
	if limit <= 0 || limit > bounds.PieceBytes {
		return bounds.PieceBytes
	}
	return limit
}

// Cut returns the beginning of p, at most limit bytes of it, but at least one character.
func (p Piece) Cut(limit int) Piece {
	text := PieceOf(p.Text, 0, max(limit, 1)).Text
	if len(text) < len(p.Text) {
		p.Text, p.Next = text, p.Offset+int64(len(text))
	}
	return p
}

// beginning returns where the character at i begins, or i if the text there is not UTF-8.
func beginning[T ~string | ~[]byte](text T, i int) int {
	for at := i; at >= 0 && at > i-utf8.UTFMax && at < len(text); at-- {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return i
}
