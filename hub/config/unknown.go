package config

import "strings"

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
// else one with a distance of at most two, or one for short names. It returns "" if there is none.
func (r *entryReader) nearest(name string) string {
	if len(name) > 64 {
		return ""
	}
	best, least, bare := "", 3, plain(name)
	if len(name) <= 4 {
		least = 2
	}
	for _, known := range []keys{r.dialect.keys, own} {
		for candidate := range known {
			d := 0
			if plain(candidate) != bare {
				if max(len(name)-len(candidate), len(candidate)-len(name)) > least { // the distance is at least this difference
					continue
				}
				d = slips(name, candidate)
			}
			// The result must not depend on the order of the map.
			if d < least || d == least && best != "" && candidate < best {
				best, least = candidate, d
			}
		}
	}
	return best
}

func plain(s string) string { return strings.ToLower(strokes.Replace(s)) }

var strokes = strings.NewReplacer("_", "", "-", "")

// slips returns the Levenshtein distance of two names: the number of letters that are too many, missing or wrong.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := before
			if a[i] != b[j] {
				d = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
