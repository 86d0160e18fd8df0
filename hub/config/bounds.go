package config

import (
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// limits are what a source may hold. What a workspace brings is a stranger's; the user's own files, and the host's,
// have more room.
type limits struct{ bytes, servers, values, name, problems int }

// Limits by whose the source is.
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

// room tells whether one more server of this source is read; the first that is not is told of.
func (l *loader) room(doc *document, m member, key string) bool {
	l.count++
	most := l.limits.servers
	if l.count == most+1 {
		l.report(doc.problem(m.at, "", path(key, m.name),
			fmt.Sprintf("a file of this kind may bring %d servers; this one and those after it were not read", most), false))
	}
	return l.count <= most
}

// fits refuses an entry with a list or an object of more than so many values, before anything is made of it.
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
