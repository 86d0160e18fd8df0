package rules

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var updatePicture = flag.Bool("update", false, "draw the graph of the rooms anew")

// The graph of the rooms is in CONTRIBUTING.md between these marks. `make rooms` writes it from the imports, so it is
// never out of date.
const (
	pictureFile  = "CONTRIBUTING.md"
	pictureBegin = "<!-- rooms: made by `make rooms` -->\n"
	pictureEnd   = "<!-- end of rooms -->\n"
)

// inPicture are the folders whose packages are in the graph. Each package below one of them is a room of its own,
// except that the command line is one room: its own order is in commandLine and belowCommands.
var inPicture = []string{"cmd/mcphub", oneRoom, "plugin", "ipc", "hub", "proto/mcphub/v1"}

const oneRoom = "internal/cli"

func roomOf(dir string) string {
	if within(oneRoom, dir) {
		return oneRoom
	}
	return dir
}

// roomImports returns the rooms that each room imports, without the imports of tests.
func roomImports(t *tree) map[string][]string {
	imports := map[string][]string{}
	for _, s := range t.code {
		if s.test || !s.in(inPicture...) || s.in(oneRoom+"/clitest") {
			continue
		}
		from := roomOf(s.dir())
		to := imports[from]
		for _, spec := range s.file.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			room, ours := strings.CutPrefix(p, modulePath+"/")
			if ours && slices.ContainsFunc(inPicture, func(f string) bool { return within(f, room) }) {
				to = append(to, roomOf(room))
			}
		}
		slices.Sort(to)
		imports[from] = slices.DeleteFunc(slices.Compact(to), func(room string) bool { return room == from })
	}
	return imports
}

// reaches reports whether a room imports another one, directly or indirectly. Imports have no cycles.
func reaches(imports map[string][]string, from, to string) bool {
	return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(imports, next, to) })
}

// picture returns the graph of the rooms as Mermaid. It leaves out an import if the room also imports it through
// another room.
func picture(t *tree) string {
	imports := roomImports(t)
	var rooms []string
	for room := range imports {
		rooms = append(rooms, room)
	}
	slices.Sort(rooms)
	var b strings.Builder
	b.WriteString("```mermaid\ngraph TD\n")
	for _, room := range rooms {
		for _, to := range imports[room] {
			if !slices.ContainsFunc(imports[room], func(via string) bool { return reaches(imports, via, to) }) {
				fmt.Fprintf(&b, "    %s --> %s\n", room, to)
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// withPicture returns the text with the picture between its marks.
func withPicture(text, picture string) (string, error) {
	before, rest, begins := strings.Cut(text, pictureBegin)
	_, after, ends := strings.Cut(rest, pictureEnd)
	if !begins || !ends {
		return "", fmt.Errorf("%s has no place for the picture of the rooms: %q and %q", pictureFile, pictureBegin,
			pictureEnd)
	}
	return before + pictureBegin + "\n" + picture + "\n" + pictureEnd + after, nil
}

func TestPictureOfTheRooms(t *testing.T) {
	root := repository(t)
	text := string(root.text[pictureFile])
	want, err := withPicture(text, picture(root))
	if err != nil {
		t.Fatal(err)
	}
	if *updatePicture {
		if err := os.WriteFile(filepath.Join("..", "..", pictureFile), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Errorf("the picture of the rooms in %s is not what the imports are; run make rooms", pictureFile)
	}
}

func TestPictureLeavesOutWhatFollows(t *testing.T) {
	got := picture(made(t, map[string]string{
		"ipc/a.go":      "package ipc\n\nimport (\n\t_ \"" + modulePath + "/hub\"\n\t_ \"" + modulePath + "/hub/b\"\n)\n",
		"hub/a.go":      "package hub\n\nimport _ \"" + modulePath + "/hub/b\"\n",
		"hub/a_test.go": "package hub\n\nimport _ \"" + modulePath + "/hub/c\"\n",
		"hub/b/b.go":    "package b\n",
		"internal/c.go": "package c\n\nimport _ \"" + modulePath + "/hub\"\n",
	}))
	if want := "```mermaid\ngraph TD\n    hub --> hub/b\n    ipc --> hub\n```\n"; got != want {
		t.Errorf("got %q", got)
	}
}
