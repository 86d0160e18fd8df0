package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestEverythingAnswers_nightly starts server-everything, so that a broken installation fails here and not in another
// package.
func TestEverythingAnswers_nightly(t *testing.T) {
	name, args := Everything(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the server neither answered nor ended"))
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.TempDir()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const hello = `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"peers","version":"0"}}}`
	if _, err := in.Write([]byte(hello + "\n")); err != nil {
		t.Error(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Error(err)
	}
	// The server did not get `initialized`, so it has nothing left to do and exits when its stdin is closed.
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server's end: %v (%v)", err, context.Cause(ctx))
	}

	var answer struct {
		ID     string
		Result struct {
			ProtocolVersion string
			ServerInfo      struct{ Name string }
		}
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if answer.ID != "first" || answer.Result.ProtocolVersion != "2025-11-25" ||
		answer.Result.ServerInfo.Name != "mcp-servers/everything" {
		t.Errorf("unexpected answer: %s", line)
	}
}

func TestMissingServerNamesTheCommand(t *testing.T) {
	const pin = `{"dependencies":{"` + everythingPackage + `":"1.2.3"}}`
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"not installed", map[string]string{"package.json": pin}, "run `make peers`"},
		{"other version", map[string]string{
			"package.json": pin,
			"node_modules/" + everythingPackage + "/package.json": `{"version":"1.2.2"}`,
		}, "installed as 1.2.2, pinned is 1.2.3: run `make peers`"},
		{"damaged", map[string]string{
			"package.json": pin,
			"node_modules/" + everythingPackage + "/package.json": `{"version":"1.2.3"}`,
		}, "run `make clean peers`"},
		{"nothing pinned", map[string]string{"package.json": `{}`}, "pins no"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			home := t.TempDir()
			for name, content := range test.files {
				path := filepath.Join(home, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			file, err := script(home, everythingPackage, "dist", "index.js")
			if err == nil {
				t.Fatalf("found %s", file)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q does not say %q", err, test.want)
			}
		})
	}
}

func TestEverythingHomeIsFoundFromDeepInside(t *testing.T) {
	root := t.TempDir()
	want := filepath.Join(root, "internal", "peers", "everything")
	deep := filepath.Join(root, "hub", "mcp", "testdata")
	for _, dir := range []string{want, deep} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := home(deep, "everything", "package-lock.json"); err == nil {
		t.Fatalf("found %s where there is no lock file", got)
	}
	if err := os.WriteFile(filepath.Join(want, "package-lock.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := home(deep, "everything", "package-lock.json")
	if err != nil || got != want {
		t.Errorf("home = %q, %v; want %q", got, err, want)
	}
}

// TestLockNamesNoRegistry: the lock works with every registry mirror, and pins every package by its hash.
func TestLockNamesNoRegistry(t *testing.T) {
	for server, dependency := range map[string]string{
		"everything": everythingPackage, "typescript1": "@modelcontextprotocol/sdk",
		"typescript2": "@modelcontextprotocol/server",
	} {
		t.Run(server, func(t *testing.T) { namesNoRegistry(t, server, dependency) })
	}
}

func namesNoRegistry(t *testing.T, server, dependency string) {
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	if err := readJSON(filepath.Join(server, "package-lock.json"), &lock); err != nil {
		t.Fatal(err)
	}
	if _, ok := lock.Packages["node_modules/"+dependency]; !ok {
		t.Errorf("the lock does not hold %s", dependency)
	}
	for name, p := range lock.Packages {
		if name == "" {
			continue // the package of the lock itself
		}
		if p.Resolved != "" {
			t.Errorf("%s: resolved from %s: install with the .npmrc beside the lock", name, p.Resolved)
		}
		if p.Integrity == "" {
			t.Errorf("%s: no integrity hash", name)
		}
	}
}
