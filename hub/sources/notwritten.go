package sources

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// refusals maps the kind of a refusal to the code and the reason that a host gets.
var refusals = map[edit.Kind]struct {
	code   event.Code
	reason string
}{
	edit.Exists:      {event.CodeAlreadyExists, event.ReasonServerExists},
	edit.Missing:     {event.CodeNotFound, event.ReasonServerNotFound},
	edit.Broken:      {event.CodeFailedPrecondition, event.ReasonConfigBroken},
	edit.Unsupported: {event.CodeFailedPrecondition, event.ReasonConfigUnsupported},
	edit.Wrong:       {event.CodeInvalidArgument, event.ReasonConfigInvalid},
	edit.TooLarge:    {event.CodeResourceExhausted, event.ReasonBoundExceeded},
}

// notWritten puts into words for people why a file was not read or changed. did is that of Files.write.
func (f *Files) notWritten(err error, file, server, did string) error {
	what := fmt.Sprintf("server %q was not %s", bounds.Printable(server), did)
	meta := []string{"server", bounds.Printable(server), "file", file}
	if r, ok := errors.AsType[*edit.Refusal](err); ok {
		place := file
		if r.Line > 0 {
			place += ":" + strconv.Itoa(r.Line)
			meta = append(meta, "line", strconv.Itoa(r.Line))
		}
		if r.Key != "" {
			meta = append(meta, "key", bounds.Printable(r.Key))
		}
		of := refusals[r.Kind]
		return event.Fail(of.code, of.reason, meta, "%s, and the file is as it was: %s: %s", what, place,
			f.Redactor.Text(r.Error()))
	}
	if e, ok := errors.AsType[*statefile.RewriteError](err); ok {
		return event.Fail(event.CodeFailedPrecondition, event.ReasonConfigNotWritable, meta,
			"%s, and the file is as it was: %s", what, e.Error())
	}
	if e, ok := errors.AsType[*UnnotedError](err); ok {
		why := e.Error()
		if errors.Is(e.Err, statefile.ErrNoPlace) {
			why = "it has no directory for its own files"
		}
		return event.Fail(event.CodeFailedPrecondition, event.ReasonConfigNotWritable, meta,
			"%s, and the file is as it was: the hub cannot note that the server is to start only after a yes (%s)", what, why)
	}
	if errors.Is(err, errOutdated) {
		return event.Fail(event.CodeFailedPrecondition, event.ReasonConfigChanged, meta,
			"%s: its entry in %s changed since the hub read it; it has been read anew: look at it, and try again", what, file)
	}
	return err
}
