package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/licensecheck"
)

// mostBytes is the largest size that the program may have.
const mostBytes = 30_000_000

const testVersion = "99.0.1-test" // newer than any version that a host requires

// own returns the target of the machine that the tests run on.
func own(t *testing.T) target {
	t.Helper()
	i := slices.IndexFunc(targets, func(t target) bool { return t.goos == runtime.GOOS && t.goarch == runtime.GOARCH })
	if i < 0 {
		t.Skipf("there is no release for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return targets[i]
}

// made builds the release for this machine's target from the repository at root into out.
func made(t *testing.T, root, out string, vsix bool) *release {
	t.Helper()
	r := &release{version: testVersion, root: root, out: out, vsix: vsix}
	r.make(own(t).name())
	return r
}

var (
	hereOnce sync.Once
	here     *release
)

// madeHere returns the release of this repository, with the extension if the packages of editors are installed. It is
// built once for all tests, which only read it.
func madeHere(t *testing.T) *release {
	t.Helper()
	hereOnce.Do(func() {
		dir, err := os.MkdirTemp("", "mcphub-release-")
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(installedPackages)
		here = made(t, "../..", filepath.Join(dir, "dist"), err == nil)
	})
	if here == nil {
		t.Fatal("the release could not be built: see the first test that needs it")
	}
	return here
}

const installedPackages = "../../editors/node_modules/.installed"

func TestMain(m *testing.M) {
	code := m.Run()
	if here != nil {
		if err := os.RemoveAll(filepath.Dir(here.out)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// Two builds in two folders give the same bytes, and the program in the archive reports the version. TestExtension
// compares the extension, which the second folder cannot build.
func TestSameBytesEverywhere(t *testing.T) {
	first := madeHere(t).out
	elsewhere := filepath.Join(t.TempDir(), "another place")
	if err := os.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	// The copy has neither installed packages nor the git history.
	const copied = `tar -C ../.. --exclude=node_modules --exclude=./.git --exclude=.editors --exclude=./bin -cf - . | tar -C "$0" -xf -`
	if out, err := exec.Command("sh", "-c", copied, elsewhere).CombinedOutput(); err != nil {
		t.Skipf("the repository cannot be copied: %s", out)
	}
	second := made(t, elsewhere, filepath.Join(t.TempDir(), "dist"), false).out
	sums := func(out string) string {
		text, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool {
			return strings.HasSuffix(l, ".vsix")
		})
		return strings.Join(lines, "\n")
	}
	if sums(first) != sums(second) {
		t.Errorf("two builds differ:\n%s\n%s", sums(first), sums(second))
	}
	for _, want := range []string{".cdx.json", "bin-" + own(t).name() + "-" + testVersion + ".tgz", "mcphub-host-"} {
		if !strings.Contains(sums(first), want) {
			t.Errorf("no %s in\n%s", want, sums(first))
		}
	}
	program := filepath.Join(first, "programs", own(t).name(), own(t).program())
	said, err := exec.Command(program, "version").Output()
	if err != nil || !strings.Contains(string(said), testVersion) {
		t.Errorf("mcphub version: %q, %v", said, err)
	}
}

// The bill of materials names everything that is linked, each with a known licence, whose text is in the notices. It
// names nothing that only tests use.
func TestWhatIsLinkedIsNamed(t *testing.T) {
	out := madeHere(t).out
	text, err := os.ReadFile(filepath.Join(out, "mcphub-"+testVersion+"-"+own(t).name()+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Components []struct {
			Name     string
			Licenses []struct{ License struct{ ID string } }
		}
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	notices, err := exec.Command("tar", "-xzOf", filepath.Join(out, tarballName(binaryName(own(t)), testVersion)),
		"package/THIRD_PARTY_NOTICES.txt").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range bill.Components {
		names[c.Name] = true
	}
	texts, of := map[string]string{}, ""
	for _, section := range strings.Split(string(notices), "\n"+strings.Repeat("-", 80)+"\n") {
		if name, _, _ := strings.Cut(section, " "); names[name] {
			of = name // else the line of dashes is within a licence
		}
		texts[of] += section
	}
	for _, c := range bill.Components {
		if len(c.Licenses) == 0 || c.Licenses[0].License.ID == "" {
			t.Errorf("%s has no licence", c.Name)
		}
		for _, l := range c.Licenses {
			if !slices.ContainsFunc(licensecheck.Scan([]byte(texts[c.Name])).Match, func(m licensecheck.Match) bool {
				return !m.IsURL && m.ID == l.License.ID
			}) {
				t.Errorf("the notices of %s do not have the text of the licence %s", c.Name, l.License.ID)
			}
		}
	}
	for _, want := range []string{"std", "google.golang.org/grpc", "github.com/hashicorp/go-plugin"} {
		if !names[want] {
			t.Errorf("%s is linked and not named", want)
		}
	}
	if names["github.com/google/go-cmp"] {
		t.Error("go-cmp is of the tests, and named")
	}
}

// A release fails if a module has no licence file, an unknown licence, or one that may not be linked.
func TestUnknownLicencesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"README":  "hello",
		"LICENSE": "All rights reserved.",
		"COPYING": "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := part{path: "example.com/x", version: "v1.0.0"}
		if err := ended(func() { p.read(dir) }); err == nil {
			t.Errorf("%s %q: taken for %v", name, text, p.licences)
		}
	}
}

// A repacked zip does not depend on the order and times of its files.
func TestRepacked(t *testing.T) {
	pack := func(names ...string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range names {
			part, err := w.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := part.Write([]byte(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	one := repacked(pack("a", "b/c"))
	if !bytes.Equal(one, repacked(pack("b/c", "a"))) {
		t.Error("they differ")
	}
}

// Two packed .vsix files are the same. The file contains the program with the right version, and names the code of
// other authors in both the extension and the program.
func TestExtension(t *testing.T) {
	if _, err := os.Stat(installedPackages); err != nil {
		t.Skip("the packages of editors/ are not installed: make test-release does it")
	}
	r := *madeHere(t)
	name := filepath.Join(r.out, "mcphub-"+testVersion+"-"+own(t).name()+".vsix")
	first, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(r.out, "programs", own(t).name(), own(t).program())
	notices, err := os.ReadFile(program + ".notices.txt")
	if err != nil {
		t.Fatal(err)
	}
	r.out = t.TempDir()
	r.extension(own(t), program, notices)
	if second, err := os.ReadFile(filepath.Join(r.out, filepath.Base(name))); err != nil || !bytes.Equal(first, second) {
		t.Errorf("two files differ: %v", err)
	}
	z, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	within := func(name string) string {
		f, err := z.Open("extension/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if !strings.Contains(within("package.json"), `"version": "`+testVersion+`"`) {
		t.Error("the manifest has another version")
	}
	size := len(within("bin/" + own(t).program()))
	t.Logf("the program has %.1f MB", float64(size)/1e6)
	if size < 1<<20 || size > mostBytes {
		t.Errorf("the program has %d bytes, and %d are allowed: see docs/adr/0051-size-of-the-program.md", size, mostBytes)
	}
	// Two packages of the extension, one of them without a licence file; a licence text; and a module of the program.
	for _, want := range []string{"\nprotobufjs ", "\n@bufbuild/protobuf ", "Copyright 2008 Google Inc.",
		"\ngoogle.golang.org/grpc "} {
		if !strings.Contains(within("THIRD_PARTY_NOTICES.txt"), want) {
			t.Errorf("the notices do not name %q", want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for version, good := range map[string]bool{"1.2.3": true, "1.2.3-rc.1": true, "v1.2.3": false, "1.2": false,
		"": false, "1.2.3 -X main.x=y": false} {
		if number.MatchString(version) != good {
			t.Errorf("%q: %v", version, !good)
		}
	}
}
