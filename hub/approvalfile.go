package hub

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// approvalFile keeps approvals with scope always, in memory and, when there is a state directory, in a file of the hub's own.
// A file that cannot be read or written costs the memory of approvals, never a call: it is logged and the hub asks again.
type approvalFile struct {
	path string // "" = memory only
	log  *slog.Logger

	disk sync.Mutex // one rewrite at a time; taken before mu, never with the hub's lock held

	mu    sync.Mutex // guards known; never held over the disk, the hub asks under its own lock
	known map[approvalKey]time.Time
}

// storedApproval is one line of the file.
type storedApproval struct {
	Server string    `json:"server"`
	Launch string    `json:"launch"`
	Tool   string    `json:"tool"`
	Hash   string    `json:"definitionHash"`
	Time   time.Time `json:"time"`
}

func openApprovalFile(dir string, log *slog.Logger) *approvalFile {
	f := &approvalFile{log: log, known: map[approvalKey]time.Time{}}
	if dir == "" {
		return f
	}
	f.path = filepath.Join(dir, "approvals.json")
	for k, t := range f.read() {
		f.known[k] = t
	}
	return f
}

func (f *approvalFile) has(k approvalKey) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.known[k]
	return ok
}

func (f *approvalFile) any(match func(approvalKey) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := range f.known {
		if match(k) {
			return true
		}
	}
	return false
}

// add remembers k and rewrites the file with what another hub may have added meanwhile.
func (f *approvalFile) add(k approvalKey) {
	f.mu.Lock()
	f.known[k] = time.Now().UTC()
	f.mu.Unlock()
	if f.path == "" {
		return
	}
	f.disk.Lock()
	defer f.disk.Unlock()
	others := f.read()
	f.mu.Lock()
	for other, t := range others {
		if _, ok := f.known[other]; !ok {
			f.known[other] = t
		}
	}
	known := maps.Clone(f.known)
	f.mu.Unlock()
	if err := f.write(known); err != nil {
		f.log.Warn("an approval could not be kept for later", "error", err.Error())
	}
}

func (f *approvalFile) read() map[approvalKey]time.Time {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var file struct {
		Approvals []storedApproval `json:"approvals"`
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		f.log.Warn("kept approvals could not be read", "error", err.Error())
		return nil
	}
	known := map[approvalKey]time.Time{}
	for _, a := range file.Approvals {
		known[approvalKey{server: a.Server, launch: a.Launch, tool: a.Tool, hash: a.Hash}] = a.Time
	}
	return known
}

// write replaces the file in one step, so that a reader never sees half of it. Only the user may read it.
func (f *approvalFile) write(known map[approvalKey]time.Time) error {
	var file struct {
		Approvals []storedApproval `json:"approvals"`
	}
	for k, t := range known {
		file.Approvals = append(file.Approvals, storedApproval{Server: k.server, Launch: k.launch, Tool: k.tool, Hash: k.hash, Time: t})
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.path), ".approvals-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // after the rename there is nothing to remove
	_, err = tmp.Write(append(text, '\n'))
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.path)
}
