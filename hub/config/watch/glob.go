package watch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// maxFolders is how many folders all globs together may look into.
const maxFolders = 2000

// skipped are folders that have no sources of anybody, but very many files.
var skipped = []string{".git", "node_modules"}

// glob is a Glob with what its patterns matched at the last look.
type glob struct {
	Glob
	burst
	patterns
	s       *state
	roots   []*root
	below   map[string]*listing // the folders that are looked into, by path without links
	dirty   map[string]bool     // those of below to look at when the burst is over
	crowded bool                // it was reported that there are too many folders
}

// root is a folder in which some of the glob's patterns begin.
type root struct {
	g      *glob
	base   string // as in the patterns
	places []place
	real   string // the path of base without links; "" if base is not a folder
}

// listing is one folder with the files that the patterns match.
type listing struct {
	path    string // as in the patterns
	files   map[string]stamp
	folders map[string]bool // names of the folders that are looked into
}

// stamp distinguishes two states of a file.
type stamp struct {
	size  int64
	time  int64 // ns
	inode uint64
}

// globKey returns the same key for equal globs.
func globKey(g Glob) string { return fmt.Sprintf("%q %q %q", g.Server, g.Folder, g.Patterns) }

func newGlob(s *state, want Glob) *glob {
	want.Folder = filepath.Clean(want.Folder)
	want.Patterns = slices.Clone(want.Patterns)
	g := &glob{Glob: want, s: s, below: map[string]*listing{}, dirty: map[string]bool{}}
	ps, bad := newPatterns(want)
	g.patterns = ps
	for _, text := range bad {
		s.problems = append(s.problems,
			Problem{want.Server, fmt.Sprintf("server %q: %.80q is no pattern that files can be watched by", want.Server, text)})
	}
	for _, p := range ps.include {
		if !slices.ContainsFunc(g.roots, func(r *root) bool { return r.base == p.base }) {
			g.roots = append(g.roots, &root{g: g, base: p.base})
		}
	}
	return g
}

func (g *glob) touched(folder string, sure bool, now time.Time) {
	g.dirty[folder] = true
	if sure || !g.pending() {
		g.add(now, g.s.settle)
	}
}

func (r *root) touched(folder string, sure bool, now time.Time) { r.g.touched(folder, sure, now) }

// look updates the listings, and reports whether a file that the glob matches has changed.
func (g *glob) look() (changed bool) {
	g.burst = burst{}
	for _, r := range g.roots {
		r.places = g.s.follow(r, r.base, true, r.places)
		real, err := filepath.EvalSymlinks(r.base)
		if err != nil || !isFolder(real) {
			real = ""
		}
		if r.real != "" && r.real != real {
			changed = g.unwatch(r.real) || changed
		}
		r.real = real
	}
	for _, dir := range slices.Sorted(maps.Keys(g.dirty)) { // a folder comes before the folders in it
		if g.below[dir] != nil {
			changed = g.list(dir) || changed
		}
	}
	clear(g.dirty)
	for _, r := range g.roots {
		if r.real != "" && g.below[r.real] == nil {
			changed = g.enter(r.real, r.base) || changed
		}
	}
	return changed
}

// enter starts looking into a folder, and reports whether it has a file that the glob matches.
func (g *glob) enter(dir, path string) (any bool) {
	if g.s.listed >= maxFolders {
		if !g.crowded {
			g.crowded = true
			g.s.problems = append(g.s.problems, Problem{g.Server, fmt.Sprintf(
				"server %q: the patterns of all servers lead into more than %d folders; changes in the others are not noticed, so narrow the patterns", g.Server, maxFolders)})
		}
		return false
	}
	g.s.listed++
	g.below[dir] = &listing{path: path, files: map[string]stamp{}, folders: map[string]bool{}}
	f, _ := g.s.use(dir)
	f.whole[g] = struct{}{}
	return g.list(dir)
}

// list reads a folder again, and reports whether a file that the glob matches has changed: in the folder, or in folders
// that were added or removed.
func (g *glob) list(dir string) (changed bool) {
	l := g.below[dir]
	g.s.use(dir) // watched before it is read, also if the folder was replaced by a new one
	entries, err := os.ReadDir(dir)
	if err != nil {
		return g.unwatch(dir)
	}
	files, folders := map[string]stamp{}, map[string]bool{}
	for _, e := range entries {
		path := filepath.Join(l.path, e.Name())
		if e.IsDir() {
			if !slices.Contains(skipped, e.Name()) && g.descends(path) {
				folders[e.Name()] = true
			}
			continue
		}
		if !g.match(path) {
			continue
		}
		if st, ok := stampOf(filepath.Join(dir, e.Name())); ok {
			files[e.Name()] = st
		}
	}
	changed = !maps.Equal(files, l.files)
	before := l.folders
	l.files, l.folders = files, folders
	for name := range before {
		if !folders[name] {
			changed = g.unwatch(filepath.Join(dir, name)) || changed
		}
	}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		if sub := filepath.Join(dir, name); g.below[sub] == nil {
			changed = g.enter(sub, filepath.Join(l.path, name)) || changed
		}
	}
	return changed
}

// unwatch stops looking into a folder and all folders below it, and reports whether they had a file that the glob
// matches.
func (g *glob) unwatch(dir string) (any bool) {
	for path, l := range g.below {
		if path != dir && !within(path, dir) {
			continue
		}
		any = any || len(l.files) > 0
		delete(g.below, path)
		g.s.listed--
		if f := g.s.folders[path]; f != nil {
			delete(f.whole, g)
			g.s.unused(f)
		}
	}
	return any
}

func (g *glob) close() {
	for _, r := range g.roots {
		g.s.unfollow(r, r.places)
		if r.real != "" {
			g.unwatch(r.real)
		}
	}
}

// stampOf returns the stamp of a file. A link to a file counts as that file; ok is false for everything else.
func stampOf(path string) (stamp, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{}, false
	}
	return stamp{size: info.Size(), time: info.ModTime().UnixNano(), inode: inode(info)}, true
}
