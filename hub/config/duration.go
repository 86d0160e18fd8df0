package config

import (
	"math"
	"strconv"
	"time"
)

// duration parses a Go duration string or a number of seconds. Both must not be negative.
func duration(v value) (time.Duration, bool) {
	if s, ok := v.str(); ok {
		d, err := time.ParseDuration(s)
		return max(d, 0), err == nil && d >= 0
	}
	n, ok := v.number()
	if !ok {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(n, 64)
	nanos := math.Round(seconds * float64(time.Second))
	if err != nil || seconds < 0 || nanos >= math.MaxInt64 {
		return 0, false
	}
	// A value above zero must not become 0, which means "no limit".
	if seconds > 0 && nanos < 1 {
		nanos = 1
	}
	return time.Duration(nanos), true
}
