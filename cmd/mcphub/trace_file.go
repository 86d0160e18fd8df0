package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

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

// writeTraceFile replaces the file at path atomically. Only its owner can read the new file.
func writeTraceFile(path, text string) (err error) {
	if err := checkTraceFile(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".mcphub-trace-*") // has mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // fails if it is closed already; the first error counts
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.WriteString(strings.TrimSuffix(text, "\n") + "\n"); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
