package sources

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// undo is the last write through any hub of this user, with the text before it. It is kept in a file that only the user
// can read, since that text may hold secrets. The next write replaces it.
type undo struct {
	Version int    `json:"version"`
	ID      string `json:"id,omitempty"` // names the write
	File    string `json:"file"`
	Server  string `json:"server"`
	Scope   string `json:"scope,omitempty"` // this and the next two: as in Source
	Dialect string `json:"dialect,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Before  []byte `json:"before"`
	Existed bool   `json:"existed"` // the file existed before
	Noted   bool   `json:"noted"`   // a program had written the entry that was there before
	After   string `json:"after"`   // sum of the text that was written
}

// maxUndo bounds the text that is kept, in bytes.
const maxUndo = 8 << 20

// keepUndo stores the last write, and reports whether it can be undone.
func (f *Files) keepUndo(u undo) bool {
	u.Version = 1
	text, err := json.Marshal(u)
	if err != nil || len(u.Before) > maxUndo {
		text = []byte("{}") // the one before this one can no longer be undone either
	}
	err = f.undone.Update(func([]byte) ([]byte, error) { return append(text, '\n'), nil })
	if f.lastWrite.Store(nil); errors.Is(err, statefile.ErrNoPlace) {
		f.lastWrite.Store(&text)
		err = nil
	}
	return err == nil && len(u.Before) <= maxUndo
}

// Undo restores the text that a file had before the last write. It fails if the file has changed since. id is the
// UndoID of the write that is meant; "" means the last one, whichever that is. by is who asks for it.
func (f *Files) Undo(ctx context.Context, id string, by config.Writer) (Written, error) {
	text, err := f.undone.Read()
	if last := f.lastWrite.Load(); last != nil {
		text = *last
	}
	var u undo
	if err != nil || json.Unmarshal(text, &u) != nil || u.Version != 1 {
		return Written{}, event.Fail(event.CodeFailedPrecondition, event.ReasonNothingToUndo, nil,
			"there is no write of a config file that could be undone")
	}
	if id != "" && u.ID != id {
		return Written{}, event.Fail(event.CodeFailedPrecondition, event.ReasonNothingToUndo, nil,
			"that write cannot be undone: only the last one can, which is of server %q in %s; edit the file by hand",
			bounds.Printable(u.Server), u.File)
	}
	src, err := f.sourceNamed(f.known(), Target{File: u.File})
	if err != nil && !f.AnyFile {
		return Written{}, err
	} else if err != nil {
		src = Source{Path: u.File, Scope: u.Scope, Dialect: u.Dialect, Folder: u.Folder}
	}
	to := Target{Server: u.Server, File: u.File, By: by}
	return f.write(ctx, src, to, "put back", func(text config.Source) (edit.Edited, error) {
		if statefile.Sum(string(text.JSON)) != u.After {
			return edit.Edited{}, event.Fail(event.CodeFailedPrecondition, event.ReasonConfigChanged,
				[]string{"server", u.Server, "file", u.File},
				"the last write, of server %q in %s, was not undone: the file has changed since; edit it by hand",
				bounds.Printable(u.Server), u.File)
		}
		if !u.Existed {
			return edit.Unmake(text, u.Server)
		}
		text.JSON = u.Before
		layout := config.LayoutOf(text)
		out := edit.Edited{Text: u.Before, Server: layout.Server(u.Server), AsBefore: !u.Noted}
		if i := slices.IndexFunc(layout.Spots, func(s config.Spot) bool { return s.Name == u.Server }); i >= 0 {
			out.Line = layout.Spots[i].Origin.Line
		}
		return out, nil
	})
}
