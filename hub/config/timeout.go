package config

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// timeout describes how a dialect writes a timeout: as a number of units, within a range. The unit depends on the
// dialect, whatever the key is called.
type timeout struct {
	clock       clock
	unit        time.Duration // time.Second or time.Millisecond
	least, most float64       // in units; 0 means no bound
	// a value out of range is clamped, and a value that is no number is ignored; otherwise the entry is refused
	cuts bool
	weak bool // a clock that another key has set is not changed
}

// clock is one field of Timeouts.
type clock struct {
	field string
	of    func(*Timeouts) **time.Duration
}

var (
	connect = clock{"timeouts.connect", func(t *Timeouts) **time.Duration { return &t.Connect }}
	total   = clock{"timeouts.total", func(t *Timeouts) **time.Duration { return &t.Total }}
)

// wanted returns a description of a valid value.
func (t timeout) wanted() string {
	units := map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}[t.unit]
	if t.most > 0 {
		return fmt.Sprintf("a number of %s from %g to %g", units, t.least, t.most)
	}
	return "a number of " + units + " above 0"
}

func (t timeout) read(r *entryReader, k key) {
	text, isNumber := k.value.number()
	n, err := strconv.ParseFloat(text, 64)
	// A number that is too large is parsed as infinity, and is out of every range.
	isNumber = isNumber && (err == nil || math.IsInf(n, 0))
	low := n <= 0 || n < t.least
	high := t.most > 0 && n > t.most || n*float64(t.unit) >= math.MaxInt64
	inMillis := ""
	if t.unit == time.Second && n > 3600 {
		inMillis = "; so large a number is almost surely one of milliseconds"
	}
	switch {
	case !isNumber && t.cuts:
		r.warn(k.value.at(), k.path, "is ignored: it must be %s, is %s", t.wanted(), k.value.kind())
		return
	case !isNumber:
		r.wrong(k.value, k.path, t.wanted())
		return
	case low && t.cuts:
		n = t.least
		r.warn(k.value.at(), k.path, "must be %s: %g is used", t.wanted(), n)
	case high && t.cuts:
		n = t.most
		r.warn(k.value.at(), k.path, "must be %s: %g is used%s", t.wanted(), n, inMillis)
	case low || high:
		r.fail(k.value.at(), k.path, "must be %s%s", t.wanted(), inMillis)
		return
	case inMillis != "":
		r.warn(k.value.at(), k.path, "is read as seconds%s", inMillis)
	case t.unit == time.Millisecond && n < 1000:
		r.warn(k.value.at(), k.path, "is less than a second: %s counts in milliseconds here", r.dialect.title)
	}
	field := t.clock.of(&r.s.Timeouts)
	if t.weak && *field != nil {
		return
	}
	// A value above zero must not become 0, which means "no limit".
	d := max(time.Duration(math.Round(n*float64(t.unit))), 1)
	*field = &d
	r.mark(t.clock.field, k)
}

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
