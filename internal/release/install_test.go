package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// registry is an npm registry with the packages of our scope that are in out. It answers 404 for the program of another
// platform: npm must install without it, because it is an optional dependency.
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

// manifestOf returns the package.json in a tarball.
func manifestOf(path string) (manifest map[string]any, err error) {
	text, err := exec.Command("tar", "-xzOf", path, "package/package.json").Output()
	if err != nil {
		return nil, fmt.Errorf("tar: %w", err)
	}
	err = json.Unmarshal(text, &manifest)
	return manifest, err
}

// answered runs a command and answers each question on its stdout with yes.
func answered(t *testing.T, dir string, command []string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Minute, errors.New("it asks for something else"))
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	var said strings.Builder
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if strings.Contains(lines.Text(), "y or n") {
			if _, err := io.WriteString(stdin, "y\n"); err != nil {
				return "", err
			}
		}
	}
	return said.String(), cmd.Wait()
}

// installed returns a folder with nothing but packages of this release, installed without install scripts, and the
// example as JavaScript, host.mjs. mcp.json in it has the demo server.
func installed(t *testing.T, example string, packages ...string) (dir string) {
	t.Helper()
	for _, tool := range []string{"npm", "node", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	if _, err := os.Stat("../../editors/host/dist/index.js"); err != nil {
		t.Skip("the host package is not built: make test-release does it")
	}
	esbuild, err := filepath.Abs("../../editors/node_modules/.bin/esbuild")
	if err != nil {
		t.Fatal(err)
	}
	if example, err = filepath.Abs(example); err != nil {
		t.Fatal(err)
	}
	server := registry(t, madeHere(t).out)
	dir = t.TempDir()
	for name, text := range map[string]string{
		".npmrc":       "@mcphub:registry=" + server.URL + "/\n",
		"package.json": `{"type":"module"}`,
		"mcp.json": `{"mcpServers":{"demo":{"command":"node_modules/@mcphub/bin-` + own(t).name() + "/bin/" +
			own(t).program() + `","args":["demo-server","--record","record"]}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := []string{"npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"}
	for _, name := range packages {
		install = append(install, name+"@"+testVersion)
	}
	for _, command := range [][]string{install, {esbuild, "--format=esm", "--outfile=host.mjs", example}} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	return dir
}

// After npm install in an empty folder, without install scripts, the example of docs/embedding.md runs there and finds
// the program without a path.
func TestInstalledFromTarballs(t *testing.T) {
	dir := installed(t, "../../editors/host/examples/embed.ts", scope+"/host")
	out, err := answered(t, dir, []string{"node", "host.mjs", "mcp.json", "demo", "echo", `{"text":"from the example"}`})
	if err != nil || !strings.Contains(out, `"text":"from the example"`) {
		t.Errorf("it says %q, %v", out, err)
	}
}
