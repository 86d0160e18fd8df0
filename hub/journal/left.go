package journal

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Bounds of what a hub leaves to the next one.
const (
	maxLeft     = 200 // requests, the latest
	maxLeftText = 256 // bytes of each text
)

// Left is the file in which a hub that ends because nobody is attached records the requests that its end has ended, so
// that the next hub can tell its windows. Arguments, subjects and results are not written.
type Left struct{ file *statefile.File }

// leftFile is the JSON content of the file.
type leftFile struct {
	Ended []leftEnd `json:"ended"`
}

type leftEnd struct {
	Time        time.Time `json:"time"`
	RequestID   string    `json:"request_id"`
	Server      string    `json:"server"`
	Incoming    bool      `json:"incoming,omitempty"`
	Method      string    `json:"method"`
	Tool        string    `json:"tool,omitempty"`
	Caller      string    `json:"caller,omitempty"`
	MayContinue bool      `json:"may_continue,omitempty"`
}

// OpenLeft returns the file at path; with "", nothing is stored. It does not read the file yet.
func OpenLeft(path string, log *slog.Logger) *Left {
	if path == "" {
		return &Left{file: statefile.Open("", "", statefile.Options{Logger: log})}
	}
	return &Left{file: statefile.Open(filepath.Dir(path), filepath.Base(path), statefile.Options{Logger: log})}
}

// Write adds the requests that ended by a cancel to the file. Several hubs may share it.
func (l *Left) Write(ended []event.Ended) error {
	return l.file.Update(func(old []byte) ([]byte, error) {
		var f leftFile
		if old != nil {
			_ = json.Unmarshal(old, &f) // a file that cannot be read is replaced
		}
		for _, e := range ended {
			c, ok := e.Body.(*event.RequestCancelled)
			if !ok {
				continue
			}
			f.Ended = append(f.Ended, leftEnd{
				Time: e.Time, RequestID: bounds.Cut(c.RequestID, maxLeftText), Server: bounds.Cut(c.Server, maxLeftText),
				Incoming: c.Direction == event.Incoming, Method: bounds.Cut(c.Method, maxLeftText),
				Tool: bounds.Cut(c.Tool, maxLeftText), Caller: bounds.Cut(c.Caller, maxLeftText),
				MayContinue: c.ServerMayContinue,
			})
		}
		if n := len(f.Ended) - maxLeft; n > 0 {
			f.Ended = f.Ended[n:]
		}
		return json.Marshal(f)
	})
}

// Take reads the file and empties it, so that the windows are told once.
func (l *Left) Take() []event.Ended {
	if text, err := l.file.Read(); text == nil || err != nil {
		return nil // the usual case: the file need not be written
	}
	var f leftFile
	err := l.file.Update(func(old []byte) ([]byte, error) {
		if err := json.Unmarshal(old, &f); err != nil || len(f.Ended) == 0 {
			return nil, nil
		}
		return json.Marshal(leftFile{})
	})
	if err != nil {
		return nil // otherwise the windows would be told of them again and again
	}
	list := make([]event.Ended, 0, min(len(f.Ended), maxLeft))
	for _, e := range f.Ended[max(0, len(f.Ended)-maxLeft):] {
		direction := event.Outgoing
		if e.Incoming {
			direction = event.Incoming
		}
		list = append(list, event.Ended{Time: e.Time, EarlierHub: true, Body: &event.RequestCancelled{
			RequestID: e.RequestID, Server: e.Server, Direction: direction, Method: e.Method, Tool: e.Tool,
			Caller: e.Caller, ServerMayContinue: e.MayContinue,
			Cancellation: event.Cancellation{Origin: event.OriginShutdown, Reason: LeftReason, Time: e.Time},
		}})
	}
	return list
}

// LeftReason is the reason, in words for the windows of the next hub, why a hub without windows ended its requests.
const LeftReason = "nobody came back to the hub in time"
