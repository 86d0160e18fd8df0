package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/statefile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// traceTime bounds the wait for a timeline.
const traceTime = 5 * time.Second

// checkTraceFile returns an error if a timeline could not be written to path. An existing file is overwritten, as is
// usual for an output. Anything that is not a regular file is an error.
func checkTraceFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = os.Stat(filepath.Dir(path))
		return err
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	}
	return nil
}

// saveTrace writes what the hub has recorded about the request, for a bug report.
func (c *call) saveTrace() error {
	if c.client == nil {
		return errors.New("the hub was not opened")
	}
	ctx, stop := context.WithTimeoutCause(context.Background(), traceTime, errors.New("the hub did not answer"))
	defer stop()
	r, err := c.client.Hub.GetTrace(ctx, &mcphubv1.GetTraceRequest{RequestId: c.options.requestID, Bundle: true})
	if err != nil {
		return asFailure(err)
	}
	return writeTraceFile(c.options.trace, r.GetBundleJson())
}

// writeTraceFile replaces the file at path in one step. Only its owner can read the new file.
func writeTraceFile(path, text string) error {
	if err := checkTraceFile(path); err != nil {
		return err
	}
	beside := filepath.Join(filepath.Dir(path), ".mcphub-trace-"+rand.Text())
	return statefile.Replacement{Beside: beside}.Replace(path, []byte(strings.TrimSuffix(text, "\n")+"\n"))
}
