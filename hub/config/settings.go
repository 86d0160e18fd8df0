package config

import (
	"strconv"
	"time"
)

// The hub's own keys, and the keys that only say "on" or "off".

func (r *entryReader) disabled(k key) { r.switched(k, r.truth(k)) }
func (r *entryReader) enabled(k key)  { r.switched(k, !r.truth(k)) }

// switched sets Disabled. If an entry has both keys, the one that switches off counts.
func (r *entryReader) switched(k key, off bool) {
	if off || !r.s.Disabled {
		r.s.Disabled = off
		r.mark("disabled", k)
	}
}

// partial reports whether an entry is a part of an entry in another file, which the application merges with it: it does
// not say how the server is reached. That it switches the server off is followed, since this harms nobody. Everything
// else is not: otherwise a file of a workspace could start what the user has switched off, or allow what the user has
// not allowed.
func (r *entryReader) partial(ks []key, given map[string]key) bool {
	if !r.dialect.merges || len(ks) == 0 || r.address(given).name != "" {
		return false
	}
	var first key
	for _, k := range ks {
		_, theirs := r.dialect.keys[k.name]
		_, ours := own[k.name]
		if !theirs && !ours || k.name == "command" || k.name == "type" {
			return false
		}
		switch on, ok := k.value.boolean(); {
		case k.name != "enabled" && k.name != "disabled" || ok && on == (k.name == "enabled"):
			if first.name == "" {
				first = k
			}
		case !ok:
			return false
		default:
			r.off = append(r.off, switchedOff{r.server, r.dialect.name, r.source.Folder,
				(Origin{Scope: r.source.Scope}).OfWorkspace(), placed{
					r.number,
					r.doc.problem(k.at, r.server, k.path,
						"switches off no server of another file that is the user's: a workspace cannot", false),
				}})
		}
	}
	if first.name != "" {
		r.warn(first.at, first.path, "adds to a server of another file, and is not followed: files are not merged")
	}
	return true
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
	r.s.IdleStop = new(r.duration(k))
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
	r.settings(k, func(k key) bool {
		field := map[string]**time.Duration{"connect": &t.Connect, "idle": &t.Idle, "total": &t.Total,
			"human": &t.Human}[k.name]
		if field == nil {
			return false
		}
		*field = new(r.duration(k))
		r.mark("timeouts."+k.name, k)
		return true
	})
}

func (r *entryReader) stop(k key) {
	g := &r.s.Grace
	r.settings(k, func(k key) bool {
		field := map[string]*time.Duration{"stdin": &g.Stdin, "terminate": &g.Terminate, "kill": &g.Kill}[k.name]
		if field == nil {
			return false
		}
		if *field = r.duration(k); *field == 0 {
			*field = -1 // in the normal form, 0 means "not given"
		}
		r.mark("stop."+k.name, k)
		return true
	})
}

func (r *entryReader) duration(k key) time.Duration {
	d, ok := duration(k.value)
	if !ok {
		r.fail(k.value.at(), k.path, `must be a duration such as "90s" or "5m", or a number of seconds; 0 means none`)
	}
	return d
}
