package mcp

import (
	"testing"
	"time"
)

var benchStart = time.Now()

// processorTime returns the time by the clock, as there is no getrusage.
func processorTime(*testing.B) time.Duration { return time.Since(benchStart) }
