package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// registry serves the packages of our scope to npm, as a registry does. A machine's program that this release has not
// is not there: npm must do without, since it is optional.
func registry(t *testing.T, out string) *httptest.Server {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if strings.HasSuffix(name, ".tgz") {
			http.ServeFile(w, r, filepath.Join(out, filepath.Base(name)))
			return
		}
		file := tarballName(name, testVersion)
		if _, err := os.Stat(filepath.Join(out, file)); err != nil {
			http.NotFound(w, r)
			return
		}
		manifest, err := manifestOf(filepath.Join(out, file))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		manifest["dist"] = map[string]string{"tarball": server.URL + "/" + file}
		_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "dist-tags": map[string]string{"latest": testVersion},
			"versions": map[string]any{testVersion: manifest}})
	}))
	t.Cleanup(server.Close)
	return server
}

// manifestOf is the package.json in a tarball.
func manifestOf(path string) (manifest map[string]any, err error) {
	text, err := exec.Command("tar", "-xzOf", path, "package/package.json").Output()
	if err != nil {
		return nil, fmt.Errorf("tar: %w", err)
	}
	err = json.Unmarshal(text, &manifest)
	return manifest, err
}

// host is a program that names no binary: it finds the one that npm brought.
const host = `import { Hub } from '@mcphub/host';
const hub = new Hub();
await hub.start();
const info = await hub.requests.getInfo({});
console.log('version ' + info.version);
await hub.stop();
`

// npm install in an empty folder, with no script run, and the program is found without a path.
func TestInstalledFromTarballs(t *testing.T) {
	for _, tool := range []string{"npm", "node", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	if _, err := os.Stat("../../editors/host/dist/index.js"); err != nil {
		t.Skip("the host package is not built: make test-release does it")
	}
	server := registry(t, made(t, "../.."))
	dir := t.TempDir()
	for name, text := range map[string]string{
		".npmrc":       "@mcphub:registry=" + server.URL + "/\n",
		"package.json": `{"type":"module"}`,
		"host.mjs":     host,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range [][]string{
		{"npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "@mcphub/host@" + testVersion},
		{"node", "host.mjs"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
		if command[0] == "node" && !strings.Contains(string(out), "version "+testVersion) {
			t.Errorf("it says %q", out)
		}
	}
}
