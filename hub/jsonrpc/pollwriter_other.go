//go:build !unix

package jsonrpc

import (
	"io"
	"sync/atomic"
)

// pollWriter exists on Unix only.
type pollWriter struct{}

func newPollWriter(io.Writer, *atomic.Uint64) *pollWriter { return nil }

func (*pollWriter) write([]byte, bool) (int, error) { return 0, nil }
