package hub

import (
	"log/slog"

	"github.com/mcphub-go/mcphub/hub/statefile"
)

// ownFile is one of the hub's own small files; several hubs may use it at once. Where the disk refuses, what was changed holds as long as this hub.
type ownFile interface {
	// Read gives the text, nil when there is none yet.
	Read() ([]byte, error)
	// Update replaces the text by what change makes of it, which may be asked more than once; nil changes nothing. It must not be called with the
	// hub's lock held.
	Update(change statefile.Change) error
}

// openOwnFile opens a file of the state directory; dir "" keeps it in memory.
func openOwnFile(dir, name string, log *slog.Logger) ownFile {
	// Whether a text can be used is for its reader to say: it knows what it wrote, and what to do with the rest.
	return openCheckedFile(dir, name, log, func([]byte) error { return nil })
}

// openCheckedFile is openOwnFile; a text that check refuses is set aside when the file is written, under a name of its own.
func openCheckedFile(dir, name string, log *slog.Logger, check func([]byte) error) ownFile {
	return statefile.Open(dir, name, statefile.Options{Logger: log, Check: check, Told: true})
}
