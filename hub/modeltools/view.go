package modeltools

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/results"
	"github.com/mcphub-go/mcphub/hub/toolset"
)

// View is the result of a tool as a text for a model. ID is for ReadResult; it is "" if nothing was left out, or if the
// result could not be kept.
type View struct {
	toolset.View
	ID string
}

// View makes the text for a model. If something has to be left out, the whole result is kept first. more returns the
// text that says how to read the rest, given the id.
func (c *Catalog) View(result json.RawMessage, o toolset.ViewOptions, more func(id string) string) View {
	v := View{View: toolset.NewView(result, o)}
	if !v.Cut {
		return v
	}
	id, err := c.results.Keep(result)
	if err != nil {
		return v // the log has the reason, and the text says what is missing
	}
	o.More = more(id)
	return View{toolset.NewView(result, o), id}
}

// ReadResult returns a piece of a result that was kept: of the text of which views are made, or of the original JSON.
// Error: NOT_FOUND RESULT_NOT_FOUND.
func (c *Catalog) ReadResult(id string, offset int64, limit int, original bool) (results.Piece, error) {
	kept, err := c.results.Read(id)
	switch {
	case errors.Is(err, results.ErrNotKept):
		return results.Piece{}, event.Fail(event.CodeNotFound, event.ReasonResultNotFound, nil, "%v", err)
	case err != nil:
		return results.Piece{}, event.AsError(fmt.Errorf("reading a kept result: %w", err))
	case original:
		return results.PieceOf(string(kept), offset, limit), nil
	}
	whole := toolset.NewView(kept, toolset.ViewOptions{})
	return results.PieceOf(whole.Text, offset, limit), nil
}
