package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The lanes, in the order in which they are asked.
const (
	laneOwn = "own"
	laneB   = "B"
	laneC   = "C"
)

// elsewhere is what a test says by its name if it is not of lane B: Makefile, test-go.
const elsewhere = "(_real|_nightly)$"

// A module is what the lanes are made of.
type module struct {
	path    string
	order   []string            // the folders of its packages, cheap ones first
	wholeC  []string            // those whose tests are all of lane C, in their order
	uses    map[string][]string // the folders that the tests of a folder contain, from themselves to leaves
	hasReal map[string]bool     // whether a folder has tests of lane C that are no package of it
}

// load asks the go command what contains what. The packages of cheap come first; those of left are asked nothing.
func load(ctx context.Context, root string, cheap, wholeC, left []string) (*module, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Path}}|{{.ImportPath}}|{{join .Deps \" \"}}|"+
		"{{join .TestImports \" \"}} {{join .XTestImports \" \"}}", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	m := &module{wholeC: wholeC, uses: map[string][]string{}, hasReal: map[string]bool{}}
	deps, imports := map[string][]string{}, map[string][]string{}
	var folders []string
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSpace(line), "|")
		m.path = parts[0]
		folder := m.folder(parts[1])
		folders = append(folders, folder)
		deps[folder], imports[folder] = m.folders(parts[2]), m.folders(parts[3])
		if len(strings.Fields(parts[3])) == 0 || slices.Contains(left, folder) {
			imports[folder] = nil
			folders = folders[:len(folders)-1] // it has no tests
		}
	}
	for _, folder := range folders {
		uses := append([]string{folder}, deps[folder]...)
		for _, imported := range imports[folder] {
			uses = append(append(uses, imported), deps[imported]...)
		}
		m.uses[folder] = uses
		if m.hasReal[folder], err = hasReal(filepath.Join(root, folder)); err != nil {
			return nil, err
		}
	}
	for _, folder := range cheap {
		if m.uses[folder] == nil {
			return nil, fmt.Errorf("%s has no tests", folder)
		}
	}
	for _, folder := range append(slices.Clone(cheap), folders...) {
		if !slices.Contains(m.order, folder) && !slices.Contains(wholeC, folder) {
			m.order = append(m.order, folder)
		}
	}
	return m, nil
}

func (m *module) folder(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, m.path), "/")
}

// folders returns those of a list of packages that are of this module.
func (m *module) folders(list string) []string {
	var own []string
	for path := range strings.FieldsSeq(list) {
		if strings.HasPrefix(path, m.path+"/") {
			own = append(own, m.folder(path))
		}
	}
	return own
}

var realTest = regexp.MustCompile(`(?m)^func Test\w+_real\(`)

func hasReal(dir string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || realTest.Match(text) {
			return true, err
		}
	}
	return false, err
}

// startsProgram reports whether the tests of a folder start the program, also in lane B.
func startsProgram(folder string) bool {
	return folder == "internal/cli" || strings.HasPrefix(folder, "internal/cli/")
}

// suites returns what the lanes ask about a change in folder, in their order.
func (m *module) suites(folder string, lanes []string) []suite {
	var own, b, c []suite
	for _, asked := range m.order {
		if !slices.Contains(m.uses[asked], folder) {
			continue
		}
		s := suite{lane: laneB, folder: asked, skip: elsewhere, binary: startsProgram(asked)}
		if asked == folder {
			s.lane = laneOwn
			own = append(own, s)
		} else {
			b = append(b, s)
		}
		if m.hasReal[asked] {
			c = append(c, suite{lane: laneC, folder: asked, run: "_real$", binary: true})
		}
	}
	for _, asked := range slices.Backward(m.wholeC) {
		c = slices.Insert(c, 0, suite{lane: laneC, folder: asked, skip: "_nightly$", binary: true})
	}
	return slices.DeleteFunc(slices.Concat(own, b, c), func(s suite) bool { return !slices.Contains(lanes, s.lane) })
}
