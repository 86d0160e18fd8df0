package toolset

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
)

// View makes the text for a model. If something has to be left out, the whole result is kept first. more returns the
// text that says how to read the rest, given the id.
func (c *Catalog) View(result json.RawMessage, o ViewOptions, more func(id string) string) View {
	v := NewView(result, o)
	if !v.Cut {
		return v
	}
	id, err := c.results.Keep(result)
	if err != nil {
		return v // the log has the reason, and the text says what is missing
	}
	o.More = more(id)
	v = NewView(result, o)
	v.ID = id
	return v
}

// ReadResult returns a piece of a result that was kept: of the text of which views are made, or of the original JSON.
// Error: NOT_FOUND RESULT_NOT_FOUND.
func (c *Catalog) ReadResult(id string, offset int64, limit int, original bool) (journal.Piece, error) {
	kept, err := c.results.Read(id)
	switch {
	case errors.Is(err, journal.ErrNotKept):
		return journal.Piece{}, event.Fail(event.CodeNotFound, event.ReasonResultNotFound, nil, "%v", err)
	case err != nil:
		return journal.Piece{}, event.AsError(fmt.Errorf("reading a kept result: %w", err))
	case original:
		return journal.PieceOf(string(kept), offset, limit), nil
	}
	whole := NewView(kept, ViewOptions{})
	return journal.PieceOf(whole.Text, offset, limit), nil
}
