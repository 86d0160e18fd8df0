package config

import (
	"strconv"
	"time"
)

// The hub's own keys, and those that only say "on" or "off".

func (r *entryReader) disabled(k key) {
	var ok bool
	if r.s.Disabled, ok = k.value.boolean(); !ok {
		r.wrong(k.value, k.path, "true or false")
	}
	r.mark("disabled", k)
}

func (r *entryReader) enabled(k key) {
	on, ok := k.value.boolean()
	if !ok {
		r.wrong(k.value, k.path, "true or false")
	}
	r.s.Disabled = !on
	r.mark("disabled", k)
}

func (r *entryReader) era(k key) {
	if r.s.Era, _ = k.value.str(); r.s.Era != "auto" && r.s.Era != "legacy" && r.s.Era != "modern" {
		r.fail(k.value.at(), k.path, `must be "auto", "legacy" or "modern"`)
	}
	r.mark("era", k)
}

func (r *entryReader) start(k key) {
	if r.s.Start, _ = k.value.str(); r.s.Start != StartLazy && r.s.Start != StartEager {
		r.fail(k.value.at(), k.path, `must be "lazy" or "eager"`)
	}
	r.mark("start", k)
}

func (r *entryReader) idleStop(k key) {
	d := r.duration(k.path, k.value)
	r.s.IdleStop = &d
	r.mark("idleStop", k)
}

func (r *entryReader) maxMessageBytes(k key) {
	n, isNumber := k.value.number()
	bytes, err := strconv.Atoi(n)
	if !isNumber || err != nil || bytes < 0 {
		r.fail(k.value.at(), k.path, "must be a whole number of bytes, 0 for the default")
	}
	r.s.MaxMessageBytes = bytes
	r.mark("maxMessageBytes", k)
}

func (r *entryReader) timeouts(k key) {
	t := &r.s.Timeouts
	r.settings(k.path, k.value, func(m member) bool {
		field := map[string]**time.Duration{"connect": &t.Connect, "idle": &t.Idle, "total": &t.Total, "human": &t.Human}[m.name]
		if field == nil {
			return false
		}
		if !m.value.isNull() {
			d := r.duration(path(k.path, m.name), m.value)
			*field = &d
			r.mark("timeouts."+m.name, key{m, path(k.path, m.name)})
		}
		return true
	})
}

func (r *entryReader) stop(k key) {
	g := &r.s.Grace
	r.settings(k.path, k.value, func(m member) bool {
		field := map[string]*time.Duration{"stdin": &g.Stdin, "terminate": &g.Terminate, "kill": &g.Kill}[m.name]
		if field == nil {
			return false
		}
		if !m.value.isNull() {
			if *field = r.duration(path(k.path, m.name), m.value); *field == 0 {
				*field = -1 // 0 in the normal form is "not given"
			}
			r.mark("stop."+m.name, key{m, path(k.path, m.name)})
		}
		return true
	})
}

func (r *entryReader) duration(key string, v value) time.Duration {
	d, ok := duration(v)
	if !ok {
		r.fail(v.at(), key, `must be a duration such as "90s" or "5m", or a number of seconds; 0 means none`)
	}
	return d
}
