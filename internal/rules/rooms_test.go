package rules

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// roomsHeading is the heading of the section of CONTRIBUTING.md with the table of rooms.
const roomsHeading = "## The rooms\n"

// unlistedRooms checks that the table of rooms is complete, because a newcomer looks there for where something is. Each
// package of the hub's process must be in the first column of a row, and each name there must be a folder of the
// repository.
func unlistedRooms(t *tree) []violation {
	before, section, found := strings.Cut(string(t.text[pictureFile]), roomsHeading)
	if !found {
		return []violation{{pictureFile, 0, "the table of rooms is missing"}}
	}
	section, _, _ = strings.Cut(section, "\n## ")
	folders := map[string]bool{}
	for _, file := range t.files {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	var bad []violation
	listed := map[string]bool{}
	first := strings.Count(before+roomsHeading, "\n") + 1
	for i, line := range strings.Split(section, "\n") {
		row, isRow := strings.CutPrefix(line, "| ")
		if !isRow {
			continue
		}
		names, _, _ := strings.Cut(row, " |")
		for _, name := range spelled.FindAllStringSubmatch(names, -1) {
			listed[name[1]] = true
			if !folders[name[1]] {
				bad = append(bad, violation{pictureFile, first + i, "there is no room " + name[1]})
			}
		}
	}
	var missing []string
	for _, s := range t.code {
		if room := s.dir(); !s.test && s.in("hub", "ipc", "plugin") && s.file.Name.Name != "main" && !listed[room] {
			missing = append(missing, room)
		}
	}
	slices.Sort(missing)
	for _, room := range slices.Compact(missing) {
		bad = append(bad, violation{room, 0, "the table of rooms in " + pictureFile + " has no row for it"})
	}
	return bad
}

func TestEachRoomIsListed(t *testing.T) {
	report(t, unlistedRooms(repository(t)))
}

func TestEachRoomIsListedFindsViolations(t *testing.T) {
	finds(t, unlistedRooms(made(t, map[string]string{
		"CONTRIBUTING.md": "`hub/c`\n\n## The rooms\n\n| room | what |\n| --- | --- |\n| `hub`, `hub/a` | not `hub/b` |\n" +
			"| `hub/gone` | nothing |\n\n## More\n\n| `hub/c` | no room |\n",
		"hub/hub.go":             "package hub\n",
		"hub/a/a.go":             "package a\n",
		"hub/b/b.go":             "package b\n",
		"hub/b/more.go":          "package b\n",
		"hub/c/c.go":             "package c\n",
		"hub/d/d_test.go":        "package d\n",
		"plugin/example/main.go": "package main\n",
		"internal/e/e.go":        "package e\n",
	})), "CONTRIBUTING.md:8", "hub/b", "hub/c")
	finds(t, unlistedRooms(made(t, map[string]string{"hub/hub.go": "package hub\n"})), "CONTRIBUTING.md")
}
