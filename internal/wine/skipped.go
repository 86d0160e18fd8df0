package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// whole replaces the name of a test for a whole package, which is then not even built.
const whole = "*"

// skipped is the list of tests that do not pass under Wine.
type skipped []line

// line is one test of the list. A test that hangs, or breaks others, is left out. Any other one runs and must not pass.
type line struct {
	pkg, test string
	leftOut   bool
	reason    string
}

// readSkipped reads lines of package, test, "fails" or "left-out", and the reason.
func readSkipped(file string) (list skipped, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	for n := 1; scan.Scan(); n++ {
		text := strings.TrimSpace(scan.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.Fields(text)
		if len(fields) < 4 || fields[2] != "fails" && fields[2] != "left-out" || fields[1] == whole && fields[2] == "fails" {
			return nil, fmt.Errorf("%s:%d: want PACKAGE TEST fails|left-out REASON, or PACKAGE * left-out REASON", file, n)
		}
		l := line{fields[0], fields[1], fields[2] == "left-out", strings.Join(fields[3:], " ")}
		if slices.ContainsFunc(list, func(o line) bool { return o.pkg == l.pkg && o.test == l.test }) {
			return nil, fmt.Errorf("%s:%d: %s of %s is there twice", file, n, l.test, l.pkg)
		}
		list = append(list, l)
	}
	return list, scan.Err()
}

// whole returns why a whole package is left out, or "".
func (s skipped) whole(pkg string) string {
	if l := s.find(pkg, whole); l != nil {
		return l.reason
	}
	return ""
}

func (s skipped) find(pkg, test string) *line {
	i := slices.IndexFunc(s, func(l line) bool { return l.pkg == pkg && l.test == test })
	if i < 0 {
		return nil
	}
	return &s[i]
}

// leftOut returns a pattern of the tests of a package that must not be run, or "".
func (s skipped) leftOut(pkg string) string {
	var names []string
	for _, l := range s {
		if l.pkg == pkg && l.leftOut {
			names = append(names, l.test)
		}
	}
	if names == nil {
		return ""
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// count returns how many tests of these packages are listed.
func (s skipped) count(packages []string) (n int) {
	for _, l := range s {
		if slices.Contains(packages, l.pkg) {
			n++
		}
	}
	return n
}

// unknown returns faults for lines whose packages do not exist.
func (s skipped) unknown(packages []string, some bool) (faults []string) {
	for _, l := range s {
		if !some && l.test != whole && !slices.Contains(packages, l.pkg) {
			faults = append(faults, fmt.Sprintf("%s: there is no such package with tests: remove it from skipped.txt", l.pkg))
		}
	}
	return faults
}
