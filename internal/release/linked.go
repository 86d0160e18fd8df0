package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// part is a module that is linked into the program, with its licence.
type part struct {
	path, version string
	licences      []string // SPDX identifiers
	texts         []file   // of its licence and notices
}

// accepted are the licences that linked modules may have: they only require that their text is included.
var accepted = map[string]bool{"MIT": true, "BSD-2-Clause": true, "BSD-3-Clause": true, "Apache-2.0": true, "ISC": true,
	"MPL-2.0": true, "Unlicense": true, "CC0-1.0": true}

// papers matches the names of files with licences and notices.
var papers = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^notice|^patents`)

// linked reads from the program which modules it contains, and finds the licence of each module and of Go's library.
func linked(program string) []part {
	info := got(buildinfo.ReadFile(program))
	goroot := output("go", "env", "GOROOT")
	library := part{path: "std", version: strings.TrimPrefix(info.GoVersion, "go")}
	library.read(strings.TrimSpace(string(goroot)))
	parts := []part{library}
	for _, m := range info.Deps {
		if m.Replace != nil {
			must(fmt.Errorf("%s is replaced: a release is made of published modules", m.Path))
		}
		text := output("go", "mod", "download", "-json", m.Path+"@"+m.Version)
		var at struct{ Dir string }
		must(json.Unmarshal(text, &at))
		p := part{path: m.Path, version: m.Version}
		p.read(at.Dir)
		parts = append(parts, p)
	}
	return parts
}

// read finds the licence in a folder. It is an error if there is none or if it is not accepted: such a module must not
// be shipped.
func (p *part) read(dir string) {
	entries := got(os.ReadDir(dir))
	for _, e := range entries {
		if !e.Type().IsRegular() || !papers.MatchString(e.Name()) {
			continue
		}
		text := got(os.ReadFile(filepath.Join(dir, e.Name())))
		p.texts = append(p.texts, file{name: e.Name(), text: text})
		for _, m := range licensecheck.Scan(text).Match {
			if !m.IsURL && accepted[m.ID] {
				if !slices.Contains(p.licences, m.ID) {
					p.licences = append(p.licences, m.ID)
				}
			} else if !m.IsURL && !strings.HasPrefix(m.ID, "Google-Patent") && !strings.HasPrefix(m.ID, "GooglePatent") {
				must(fmt.Errorf("%s %s: its file %s has the licence %s, which is none of the accepted", p.path, p.version,
					e.Name(), m.ID))
			}
		}
	}
	if len(p.licences) == 0 {
		must(fmt.Errorf("%s %s: no licence was found in %s", p.path, p.version, filepath.Base(dir)))
	}
}

// notices returns the licences of everything that is linked, as one text.
func notices(parts []part) []byte {
	var b strings.Builder
	b.WriteString("The program mcphub contains the following software of others.\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "\n%s\n%s %s: %s\n", strings.Repeat("-", 80), p.path, p.version, strings.Join(p.licences, ", "))
		for _, t := range p.texts {
			fmt.Fprintf(&b, "\n[%s]\n\n%s\n", t.name, strings.TrimSpace(strings.ReplaceAll(string(t.text), "\r\n", "\n")))
		}
	}
	return []byte(b.String())
}

// billOfMaterials returns the list of the parts in CycloneDX 1.6.
func billOfMaterials(version string, parts []part) []byte {
	type license struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	type component struct {
		Type     string    `json:"type"`
		Ref      string    `json:"bom-ref"`
		Name     string    `json:"name"`
		Version  string    `json:"version"`
		Purl     string    `json:"purl"`
		Licenses []license `json:"licenses,omitempty"`
	}
	of := func(kind, path, version string, ids []string) component {
		purl := "pkg:golang/" + path + "@" + version
		c := component{Type: kind, Ref: purl, Name: path, Version: version, Purl: purl}
		for _, id := range ids {
			var l license
			l.License.ID = id
			c.Licenses = append(c.Licenses, l)
		}
		return c
	}
	bill := struct {
		Format   string `json:"bomFormat"`
		Spec     string `json:"specVersion"`
		Version  int    `json:"version"`
		Metadata struct {
			Component component `json:"component"`
		} `json:"metadata"`
		Components []component `json:"components"`
	}{Format: "CycloneDX", Spec: "1.6", Version: 1}
	bill.Metadata.Component = of("application", "github.com/mcphub-go/mcphub", "v"+version, []string{"Apache-2.0"})
	for _, p := range parts {
		bill.Components = append(bill.Components, of("library", p.path, p.version, p.licences))
	}
	return append(got(json.MarshalIndent(bill, "", "  ")), '\n')
}

// output runs a tool outside any module and returns its output.
func output(name string, args ...string) []byte {
	cmd := exec.Command(name, args...)
	cmd.Dir = os.TempDir()
	text, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w\n%s%s", name, err, text, failed.Stderr)
	}
	must(err)
	return text
}
