package edit

// tree is the text of a file that is being changed. A path names a value by the keys that lead to it from the root.
type tree interface {
	// get gives the value at a path, without comments; ok is false when there is none. A key that stands twice on the way
	// is refused, as it is by set and remove.
	get(path []string) (v any, ok bool, r *Refusal)
	// set puts a value in the place of the one at a path, or adds it behind its siblings, with the objects that lead to
	// it.
	set(path []string, v any) *Refusal
	// extend adds a value behind those of the array at a path, or makes one of it.
	extend(path []string, v any) *Refusal
	// remove takes a value out. That there is none is no trouble.
	remove(path []string) *Refusal
	// text is the whole as it is now.
	text() []byte
}
