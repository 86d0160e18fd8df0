package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// testLimit bounds the time for one package. The limit of the tests themselves is shorter, and then shows where each
// goroutine is. Package hub takes 72 s alone, and three times that next to the end-to-end tests on a busy machine.
const testLimit = 12 * time.Minute

// verdict is the result of one package.
type verdict struct {
	passed, listed int
	faults         []string
	output         []string // what the failed tests wrote, cut
}

// test runs the tests of a package from its folder.
func (r *runner) test(ctx context.Context, pkg string) verdict {
	exe := filepath.Join(r.bin, r.binaries[pkg])
	out := func(name string, limit time.Duration, args ...string) ([]byte, error) {
		cmd := r.prefix.command(ctx, limit, append([]string{exe}, args...)...)
		cmd.Dir = filepath.Join(r.root, pkg)
		// Tests that start the real hub use the one that was built.
		cmd.Env = append(slices.Clone(cmd.Env), `MCPHUB_BINARY=`+windowsPath(filepath.Join(r.bin, "mcphub.exe")))
		return output(cmd, exe+name)
	}
	names, err := out(".list", time.Minute, "-test.list=.")
	if err != nil {
		return verdict{faults: []string{fmt.Sprintf("its tests could not be listed: %v: %s", err, names)}}
	}
	run := testNames(names)
	apart := nightly
	if r.core {
		apart = "(" + nightly + "|" + real + ")"
		run = slices.DeleteFunc(run, func(name string) bool {
			return strings.HasSuffix(name, real) && r.list.find(pkg, name) == nil
		})
	}
	args := []string{"-test.short", "-test.v=test2json", fmt.Sprintf("-test.timeout=%v", testLimit-20*time.Second)}
	if pattern := r.list.leftOut(pkg); r.run != "" {
		args = append(args, "-test.run="+r.run) // to be able to try tests that are left out, too
	} else {
		args = append(args, "-test.skip="+strings.TrimPrefix(pattern+"|"+apart+"$", "|"))
	}
	text, err := out(".out", testLimit, args...)
	return judge(pkg, run, text, err, r.list, r.run != "")
}

// demo runs the demo of the binary in its release form.
func (r *runner) demo(ctx context.Context) (v verdict) {
	cmd := r.prefix.command(ctx, demoLimit, filepath.Join(r.bin, "mcphub.exe"), "demo")
	cmd.Dir = r.bin
	text, err := output(cmd, filepath.Join(r.bin, "demo.out"))
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return verdict{faults: []string{fmt.Sprintf("mcphub.exe demo: %v", err)}, output: lastLines(text, 60)}
	}
	return verdict{passed: 1}
}

// windowsPath returns the path under Wine of a file of this system.
func windowsPath(file string) string { return "Z:" + strings.ReplaceAll(file, "/", `\`) }

// nightly ends the names of tests that count what the process holds, or take long: not under Wine.
const nightly = "_nightly"

// real ends the names of tests of real processes and sockets, which only nightly runs under Wine.
const real = "_real"

// notStarted reports whether Wine could not start a process. About once in some thousand starts, one next to another
// dies before its first instruction. CreateProcess then fails with ERROR_INTERNAL_ERROR, which nothing else gives, and
// which says nothing about the program: what it was in is run once more.
func notStarted(v verdict) bool {
	return len(v.faults) > 0 && strings.Contains(strings.Join(v.output, "\n"), "the system refused: Internal error.")
}

// testNames returns the tests in the output of -test.list, without those that have no result of their own.
func testNames(text []byte) (names []string) {
	for name := range strings.FieldsSeq(string(text)) {
		if strings.HasPrefix(name, "Test") && !strings.HasSuffix(name, nightly) || strings.HasPrefix(name, "Fuzz") {
			names = append(names, name)
		}
	}
	return names
}

// resultMark matches the result of a top-level test in the output of -test.v=test2json, anywhere in a line.
var (
	resultMark = regexp.MustCompile(`\x16--- (PASS|FAIL|SKIP): (\S+) \(`)
	nameMark   = regexp.MustCompile(`\x16=== (?:RUN|PAUSE|CONT|NAME) +(\S*)`)
)

// judge compares the results of a package's tests with the list. A test that skips itself counts as not passed: it has
// to be in the list like any other.
func judge(pkg string, names []string, text []byte, err error, list skipped, some bool) (v verdict) {
	results := map[string]string{}
	for _, m := range resultMark.FindAllSubmatch(text, -1) {
		results[string(m[2])] = string(m[1])
	}
	expected := false // a listed test has failed
	for _, name := range names {
		result, l := results[name], list.find(pkg, name)
		switch {
		case l != nil && (result == "FAIL" || result == "SKIP" || l.leftOut && result == ""):
			v.listed++
			expected = expected || result == "FAIL"
		case l != nil && result == "PASS":
			v.faults = append(v.faults, name+" passes: remove it from skipped.txt")
		case result == "PASS":
			v.passed++
		case result == "" && some:
		case result == "":
			v.faults = append(v.faults, name+" has no result")
		default:
			v.faults = append(v.faults, fmt.Sprintf("%s: %s", result, name))
			v.output = append(v.output, wrote(text, name)...)
		}
	}
	for _, l := range list {
		if l.pkg == pkg && l.test != whole && !slices.Contains(names, l.test) {
			v.faults = append(v.faults, l.test+" does not exist: remove it from skipped.txt")
		}
	}
	if err != nil && !expected && len(v.faults) == 0 || err != nil && strings.Contains(err.Error(), "signal:") {
		v.faults = append(v.faults, "it ended with: "+err.Error())
	}
	if len(v.faults) > 0 && len(v.output) == 0 {
		v.output = lastLines(text, 40)
	}
	return v
}

// wrote returns the output of one test and its subtests, at most 40 lines.
func wrote(text []byte, name string) (lines []string) {
	current := ""
	for line := range strings.Lines(string(text)) {
		if m := nameMark.FindStringSubmatch(line); m != nil {
			current, _, _ = strings.Cut(m[1], "/")
			continue
		}
		if line = strings.TrimRight(strings.TrimLeft(line, "\x16"), "\r\n"); current == name && line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-40):]
}

func lastLines(text []byte, most int) []string {
	lines := strings.Split(strings.TrimRight(string(text), "\r\n"), "\n")
	return lines[max(0, len(lines)-most):]
}

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
