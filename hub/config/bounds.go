package config

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// limits bound what a source may hold. The files of a workspace come from strangers; those of the user and of the host
// may hold more.
type limits struct{ bytes, servers, values, name, problems int }

// The limits, by the scope of the source.
var (
	ofFolder = limits{bounds.FolderConfigBytes, bounds.FolderServers, bounds.FolderValues, bounds.FolderNameBytes,
		bounds.FolderProblems}
	ofUser = limits{bounds.ConfigBytes, bounds.ConfigServers, bounds.ConfigValues, bounds.ConfigNames,
		bounds.ConfigProblems}
)

func limitsOf(scope string) limits {
	if (Origin{Scope: scope}).OfWorkspace() {
		return ofFolder
	}
	return ofUser
}

func (l limits) tooLarge() error { return fmt.Errorf("is larger than %d bytes", l.bytes) }

// room reports whether one more server of this source is read. For the first server beyond the limit it reports a
// problem.
func (l *loader) room(m member, key string) bool {
	l.count++
	most := l.limits.servers
	if l.count == most+1 {
		l.warn(m.at, path(key, m.name), "a file of this kind may bring %d servers; this one and those after it were not read", most)
	}
	return l.count <= most
}

// fits reports whether every list and object of an entry is within the limit of values. It is called before anything is
// made from the entry.
func (r *entryReader) fits(key string, v value) bool {
	most := r.limits.values
	if values, ok := v.array(); ok {
		if len(values) > most {
			r.fail(values[most].at(), key, "has %d values; it may have %d", len(values), most)
			return false
		}
		for i, e := range values {
			if e.nests() && !r.fits(fmt.Sprintf("%s[%d]", key, i), e) {
				return false
			}
		}
	}
	if members, ok := v.object(); ok {
		if len(members) > most {
			r.fail(members[most].at, key, "has %d values; it may have %d", len(members), most)
			return false
		}
		for _, m := range members {
			if m.value.nests() && !r.fits(path(key, m.name), m.value) {
				return false
			}
		}
	}
	return true
}

// ReadFile is like os.ReadFile, for config files, which a workspace may fill with anything. The size is bounded by the
// scope (Source.Scope), and only regular files are read, so that a link to a device or a pipe does not block the hub.
func ReadFile(name, scope string) ([]byte, error) {
	most := limitsOf(scope)
	text, err := readRegular(name, int64(most.bytes)+1)
	if err != nil {
		return nil, err
	}
	if len(text) > most.bytes {
		return nil, most.tooLarge()
	}
	return text, nil
}

// readRegular reads at most most bytes of a regular file.
func readRegular(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

const maxName = 128 // runes

// CheckName returns the reason why a server cannot have a name, or "" if it can.
func CheckName(name string) string {
	switch {
	case name == "":
		return "the name of a server must not be empty"
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Sprintf("the name of a server has at most %d characters", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "the name of a server must not hold control characters"
	}
	return ""
}
