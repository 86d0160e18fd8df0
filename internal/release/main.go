// Command release makes all files of a release of McpHub, for all systems: archives of the program, npm tarballs,
// checksums, the bill of materials and the licences of linked modules. make release runs it.
//
//	go run . -version 1.2.3 -root ../.. -out ../../dist
//
// The same source and the same version of Go always produce the same bytes: paths are trimmed, nothing depends on the
// machine or the clock, and all files in archives have the same time. It is a separate module, so that its dependencies
// stay out of the product's module.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// number matches a version. Hosts compare versions, and npm accepts no other form.
var number = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// release is one run of the command.
type release struct {
	version string
	root    string // of the repository
	out     string // the folder for the files
	vsix    bool   // also make the extension
}

func main() {
	var r release
	only := flag.String("only", "", "make one `target` alone, linux-x64 say")
	flag.StringVar(&r.version, "version", "", "the `number` of the release")
	flag.StringVar(&r.root, "root", "../..", "the `folder` of the repository")
	flag.StringVar(&r.out, "out", "../../dist", "the `folder` for the files; it is made anew")
	flag.BoolVar(&r.vsix, "vsix", false, "make the .vsix of each target as well")
	flag.Parse()
	if err := ended(func() { r.make(*only) }); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// stop is the value of the panic by which a release ends at its first error: there is nothing else to do about one.
type stop struct{ error }

func must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

func got[T any](v T, err error) T {
	must(err)
	return v
}

// ended returns the error that has ended do, nil if none has.
func ended(do func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			err = r.error
		default:
			panic(r)
		}
	}()
	do()
	return nil
}

// make makes the files of all targets, or only of one.
func (r *release) make(only string) {
	if !number.MatchString(r.version) {
		must(fmt.Errorf("-version %q: it is a number such as 1.2.3", r.version))
	}
	r.root = got(filepath.Abs(r.root))
	fmt.Fprintln(os.Stderr, "building what all systems have")
	r.prepare()
	must(os.RemoveAll(r.out))
	must(os.MkdirAll(r.out, 0o755))
	made := 0
	for _, t := range targets {
		if only != "" && only != t.name() {
			continue
		}
		made++
		fmt.Fprintln(os.Stderr, t.name()+": building")
		if err := ended(func() { r.target(t) }); err != nil {
			must(fmt.Errorf("%s: %w", t.name(), err))
		}
	}
	if made == 0 {
		must(fmt.Errorf("there is no target %q", only))
	}
	r.hostPackage()
	r.pagePackage()
	r.apiPackage()
	r.checksums()
}

// target makes the files of one system.
func (r *release) target(t target) {
	program := r.build(t)
	parts := linked(program)
	notices := notices(parts)
	r.write(fmt.Sprintf("mcphub-%s-%s.cdx.json", r.version, t.name()), billOfMaterials(r.version, parts))
	text := got(os.ReadFile(program))
	papers := []file{r.paper("LICENSE"), {"THIRD_PARTY_NOTICES.txt", notices, 0o644}}
	r.archive(t, append([]file{{t.program(), text, 0o755}, r.readme()}, papers...))
	if r.vsix {
		r.extension(t, program, notices)
	}
	r.binaryPackage(t, append([]file{{"bin/" + t.program(), text, 0o755}}, papers...))
}

// paper returns a file at the root of the repository.
func (r *release) paper(name string) file {
	return file{name, got(os.ReadFile(filepath.Join(r.root, name))), 0o644}
}

// readme returns the README of the repository, for those who have none of what it names.
func (r *release) readme() file {
	f := r.paper("README.md")
	f.text = wholeLinks("", f.text)
	return f
}

// write writes one file of the release, and says so.
func (r *release) write(name string, text []byte) {
	must(os.WriteFile(filepath.Join(r.out, name), text, 0o644))
	fmt.Fprintf(os.Stderr, "  %s, %d KB\n", name, (len(text)+1023)/1024)
}

// target is a system, by the names of Go and by those of Node and VS Code.
type target struct{ goos, goarch, platform, arch string }

// targets are the systems for which a release is made.
var targets = []target{
	{"linux", "amd64", "linux", "x64"},
	{"linux", "arm64", "linux", "arm64"},
	{"darwin", "amd64", "darwin", "x64"},
	{"darwin", "arm64", "darwin", "arm64"},
	{"windows", "amd64", "win32", "x64"},
	{"windows", "arm64", "win32", "arm64"},
}

// name returns the target in the form of npm packages and .vsix files.
func (t target) name() string { return t.platform + "-" + t.arch }

// program returns the name of the executable.
func (t target) program() string {
	if t.goos == "windows" {
		return "mcphub.exe"
	}
	return "mcphub"
}

// build makes the program: static, stripped, and independent of this machine. It returns its path.
func (r *release) build(t target) string {
	path := filepath.Join(r.out, "programs", t.name(), t.program())
	must(os.MkdirAll(filepath.Dir(path), 0o755))
	absolute := got(filepath.Abs(path))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", absolute, "./cmd/mcphub")
	cmd.Dir = r.root
	// Go settings of this machine must not affect the program.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.goos, "GOARCH="+t.goarch, "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0", "GOEXPERIMENT=")
	if out, err := cmd.CombinedOutput(); err != nil {
		must(fmt.Errorf("go build: %w\n%s", err, out))
	}
	return absolute
}
