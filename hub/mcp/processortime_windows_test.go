package mcp

import (
	"testing"
	"time"
)

var benchStart = time.Now()

// processorTime is the clock where nothing better is at hand.
func processorTime(*testing.B) time.Duration { return time.Since(benchStart) }
