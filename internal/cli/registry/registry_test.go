package registry_test

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/registry"
	"github.com/mcphub-go/mcphub/internal/fakeregistry"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// notesBundle writes a bundle into a file, and returns its hash.
func notesBundle(t *testing.T, file string) (sum string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for name, text := range map[string]string{"index.js": "1", "manifest.json": `{"manifest_version": "0.3",
		"name": "notes", "version": "1.0.0", "description": "Notes", "author": {"name": "Somebody"},
		"server": {"type": "node", "entry_point": "index.js", "mcp_config": {"command": "node",
		"args": ["${__dirname}/index.js", "${user_config.dir}"], "env": {"KEY": "${user_config.key}"}}},
		"user_config": {"dir": {"type": "directory", "title": "Folder", "required": true},
		"key": {"type": "string", "title": "Key", "sensitive": true}}}`} {
		e, err := w.Create(name)
		if err == nil {
			_, err = e.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}

// A server is searched for, looked at and added; the file has what it needs, and what would run was shown before.
func TestRegistryCommands(t *testing.T) {
	p := clitest.Inside(t)
	work := p.AtHome(map[string]string{"home/.cursor/mcp.json": `{"mcpServers": {}}`})
	state := filepath.Join(p.Folder, "state")
	p.Setenv("MCPHUB_STATE_DIR", state)
	p.Setenv("MCPHUB_REGISTRY", "")
	cursor := filepath.Join(filepath.Dir(work), "home", ".cursor", "mcp.json")
	file := filepath.Join(p.Folder, "notes.mcpb")
	sum := notesBundle(t, file)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := fakeregistry.Open(t, fakeregistry.Entry{Server: `{"name": "io.example/weather", "version": "1.2.0",
		"description": "Weather \u202e and \u001b[31mmore", "packages": [{"registryType": "npm", "identifier": "weather-mcp",
		"version": "1.2.0", "environmentVariables": [{"name": "KEY", "description": "yours", "isRequired": true,
		"isSecret": true}, {"name": "UNIT", "choices": ["c", "f"], "isRequired": true}]}]}`},
		fakeregistry.Entry{Server: `{"name": "io.example/other", "version": "1", "description": "x", "packages":
		[{"registryType": "cargo", "identifier": "x"}]}`})
	r.Add(fakeregistry.Entry{Server: fmt.Sprintf(`{"name": "io.example/notes", "version": "2", "description": "n", "packages":
		[{"registryType": "mcpb", "identifier": %q, "fileSha256": %q}]}`, r.Serve("/mcp-notes.mcpb", content), sum)})
	run := func(status exit.Status, want string, args ...string) clitest.Ended {
		t.Helper()
		got := p.Run(args...)
		if got.Status != status || !strings.Contains(got.Stdout+got.Stderr, want) {
			t.Errorf("%q: status %d, %s%s; want %d with %q", args, got.Status, got.Stdout, got.Stderr, status, want)
		}
		return got
	}
	r.Add(fakeregistry.Entry{Server: `{"name": 7}`})
	run(exit.Usage, "no registry is chosen", "registry", "search", "x")
	run(exit.Usage, "what of it?", "registry")
	run(exit.Usage, "NAME is missing", "registry", "show")
	p.Setenv("MCPHUB_REGISTRY", r.URL)
	found := run(0, "io.example/weather", "registry", "search", "io.example")
	if strings.ContainsAny(found.Stdout, "\x1b\u202e") {
		t.Errorf("%q", found.Stdout)
	}
	run(exit.Broken, "no server was found", "registry", "search", "nothing", "like", "this")
	run(0, "left out: 1.", "registry", "search", "")
	run(0, "There are more", "registry", "search", "io.example", "--limit", "1")
	run(exit.Broken, "cannot be reached", "registry", "search", "x", "--registry", "http://127.0.0.1:1")
	run(exit.Broken, "has no server", "registry", "show", "io.example/none")
	shown := run(0, "runs: npx -y weather-mcp@1.2.0", "registry", "show", "io.example/weather")
	for _, part := range []string{"--input KEY (needed, secret) yours", "--input UNIT (needed, one of c, f)",
		"published   2026-01-02T03:04:05Z by io.example"} {
		if !strings.Contains(shown.Stdout, part) {
			t.Errorf("no %q in\n%s", part, shown.Stdout)
		}
	}
	var asJSON mcphubv1.GetRegistryServerResponse
	got := run(0, "", "registry", "show", "io.example/weather", "--json")
	if protojson.Unmarshal([]byte(got.Stdout), &asJSON) != nil || len(asJSON.Proposals) != 1 ||
		asJSON.Proposals[0].GetForm().GetCommand() != "npx" || asJSON.GetServer().GetPublisher() != "io.example" {
		t.Error(got.Stdout)
	}

	add := []string{"config", "add", "--from-registry", "io.example/weather"}
	run(exit.Usage, "--input UNIT=VALUE is needed", append(add, "--yes")...)
	run(exit.Usage, "--yes agrees", append(add, "--input", "UNIT=c")...)
	run(exit.Usage, "it is one of KEY, UNIT", append(add, "--yes", "--input", "COLOUR=red")...)
	run(exit.Broken, "none of those", append(add, "--yes", "--input", "UNIT=k")...)
	run(exit.Usage, "leave out the other flags", append(add, "--yes", "--url", "https://x.example")...)
	run(exit.Usage, "this server has npm", append(add, "--yes", "--package", "oci")...)
	run(exit.Broken, "no packages of the kind", "config", "add", "--from-registry", "io.example/other", "--yes")
	if text, err := os.ReadFile(cursor); err != nil || string(text) != `{"mcpServers": {}}` {
		t.Errorf("%s %v", text, err)
	}
	done := run(0, "is written", append(add, "--yes", "--input", "UNIT=c", "--input", "KEY=@WEATHER_KEY")...)
	if !strings.Contains(done.Stderr, "runs: npx -y weather-mcp@1.2.0") {
		t.Errorf("what would run was not shown: %s", done.Stderr)
	}
	text, err := os.ReadFile(cursor)
	for _, part := range []string{`"weather": {`, `"KEY": "${env:WEATHER_KEY}"`, `"UNIT": "c"`} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	vscode := filepath.Join(work, "mcp.json")
	run(0, "is written", append(add, "--yes", "--input", "UNIT=f", "--file", vscode, "--dialect", "vscode")...)
	if text, err := os.ReadFile(vscode); err != nil || !strings.Contains(string(text), `"password": true`) ||
		!strings.Contains(string(text), `"KEY": "${input:weather-`) {
		t.Errorf("%s %v", text, err)
	}

	folders := func() int {
		all, _ := filepath.Glob(filepath.Join(state, "bundles", "notes-*"))
		return len(all)
	}
	run(exit.Usage, "--input dir=VALUE is needed", "config", "add", "--bundle", file, "--yes")
	if folders() != 0 {
		t.Error("unpacked before it was added")
	}
	run(exit.Broken, "is no ZIP file", "config", "add", "--bundle", cursor, "--yes")
	done = run(0, `server "mine" is written`, "config", "add", "mine", "--bundle", file, "--yes", "--input", "dir=/my data",
		"--input", "key=s3cret")
	if folders() != 1 || strings.Contains(done.Stdout+done.Stderr, "s3cret") || !strings.Contains(done.Stderr, sum) {
		t.Errorf("%d %s%s", folders(), done.Stdout, done.Stderr)
	}
	run(0, `server "notes" is written`, "config", "add", "--from-registry", "io.example/notes@2", "--yes", "--input",
		"dir=/x")
	if left, _ := filepath.Glob(filepath.Join(state, "bundles", "download-*")); len(left) != 0 {
		t.Error(left)
	}
}

// A registry that always has one more empty page is asked a bounded number of times.
func TestRegistryOfEmptyPages(t *testing.T) {
	p := clitest.Inside(t)
	r := fakeregistry.Open(t)
	var asked atomic.Int64
	r.Instead(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"servers": [], "metadata": {"nextCursor": "c%d", "count": 0}}`, asked.Add(1))
	})
	got := p.Run("registry", "search", "x", "--registry", r.URL)
	if got.Status != exit.Broken || !strings.Contains(got.Stdout, "no server was found") {
		t.Errorf("status %d, %s%s", got.Status, got.Stdout, got.Stderr)
	}
	if n := asked.Load(); n != registry.MostPages {
		t.Errorf("%d pages were asked for", n)
	}
}
