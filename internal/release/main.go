package main

import (
	"flag"
	"fmt"
	"os"
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
	if err := r.make(*only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// make makes the files of all targets, or only of one.
func (r *release) make(only string) error {
	if !number.MatchString(r.version) {
		return fmt.Errorf("-version %q: it is a number such as 1.2.3", r.version)
	}
	var err error
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if err := r.prepare(); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	made := 0
	for _, t := range targets {
		if only != "" && only != t.name() {
			continue
		}
		made++
		if err := r.target(t); err != nil {
			return fmt.Errorf("%s: %w", t.name(), err)
		}
	}
	if made == 0 {
		return fmt.Errorf("there is no target %q", only)
	}
	if err := r.hostPackage(); err != nil {
		return err
	}
	if err := r.apiPackage(); err != nil {
		return err
	}
	return r.checksums()
}

// target makes the files of one system.
func (r *release) target(t target) error {
	program, err := r.build(t)
	if err != nil {
		return err
	}
	parts, err := linked(program)
	if err != nil {
		return err
	}
	notices, err := notices(parts)
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	bill, err := billOfMaterials(r.version, parts)
	if err != nil {
		return err
	}
	if err := r.write(fmt.Sprintf("mcphub-%s-%s.cdx.json", r.version, t.name()), bill); err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	papers := []file{{"LICENSE", license, 0o644}, {"THIRD_PARTY_NOTICES.txt", notices, 0o644}}
	readme, err := os.ReadFile(filepath.Join(r.root, "README.md"))
	if err != nil {
		return err
	}
	files := append([]file{{t.program(), text, 0o755}, {"README.md", readme, 0o644}}, papers...)
	if err := r.archive(t, files); err != nil {
		return err
	}
	if r.vsix {
		if err := r.extension(t, program, notices); err != nil {
			return err
		}
	}
	return r.binaryPackage(t, append([]file{{"bin/" + t.program(), text, 0o755}}, papers...))
}

// write writes one file of the release.
func (r *release) write(name string, text []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), text, 0o644)
}
