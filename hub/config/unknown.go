package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
)

// remarks are keys for texts that people read. Files of every application have them.
var remarks = map[string]bool{
	"description": true, "comment": true, "comments": true, "note": true, "notes": true, "title": true, "name": true,
	"displayName": true,
	"homepage":    true, "author": true, "tags": true, "category": true, "icon": true,
}

// isRemark reports whether a key is a comment: JSON has no comments, so people write them as keys.
func isRemark(name string) bool {
	return remarks[name] || name != "" && strings.ContainsRune("_$#", rune(name[0])) || strings.HasPrefix(name, "//")
}

// unknown reports a key that has no meaning in the dialect. Some are words of another application; most are typing
// errors.
func (r *entryReader) unknown(k key) {
	if r.enough() {
		return // a file of 1 MiB may have 100,000 such keys, and nearest compares each with all known keys
	}
	name := r.dialect.words[k.name]
	if isRemark(k.name) || name != "" && asksForNothing(k.value) {
		return
	}
	if name == "" {
		name = r.nearest(k.name)
	}
	if name == "" {
		r.warn(k.at, k.path, "is not known and was ignored")
		return
	}
	r.warn(k.at, k.path, "is not known and was ignored; did you mean %q?", name)
}

// asksForNothing reports whether v is an empty list, which does no harm if it is ignored.
func asksForNothing(v value) bool {
	values, isArray := v.array()
	return isArray && len(values) == 0
}

// nearest returns the key that name is most likely meant to be: one that differs only in case, hyphens and underscores,
// else a near one. It returns "" if there is none, and for a name that is longer than any key and its typing errors.
func (r *entryReader) nearest(name string) string {
	if len(name) > 64 {
		return ""
	}
	all := slices.Sorted(maps.Keys(r.dialect.keys.with(own)))
	bare := plain(name)
	if i := slices.IndexFunc(all, func(key string) bool { return plain(key) == bare }); i >= 0 {
		return all[i]
	}
	if key := otherwise[bare]; slices.Contains(all, key) {
		return key
	}
	if near := event.NearMiss(name, all); len(near) > 0 {
		return near[0]
	}
	return ""
}

// otherwise has keys by other words for them that are near to the wrong ones.
var otherwise = map[string]string{"cmd": "command", "arguments": "args", "environment": "env"}

func plain(s string) string { return strings.ToLower(strokes.Replace(s)) }

var strokes = strings.NewReplacer("_", "", "-", "")
