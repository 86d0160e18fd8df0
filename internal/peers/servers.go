// Package peers starts the MCP servers of other authors against which the tests run: complete servers, and small ones
// of this project with other authors' SDKs, which keep a journal of what they observe. Every version is pinned in a
// lock file, or in go.mod.
//
//	Everything, EverythingHTTP, EverythingSSE   @modelcontextprotocol/server-everything   legacy
//	TypeScript1                                 TypeScript SDK 1.x                        legacy, with tasks
//	TypeScript2                                 TypeScript SDK 2.x                        both eras
//	GoSDK                                       the official Go SDK                       both eras
//	MCPGo                                       mcp-go                                    both eras
//
// The last four have the same tools: slow (works, with progress), ask (a form), sample (the model), ask_then_withdraw;
// TypeScript1 also task and task_ask. MCPGo cannot withdraw, and cannot ask over SSE. `make peers` installs the npm
// packages. If something is missing, the test fails; it is never skipped. That these servers do what tests rely on is
// tested at night: it changes only with their versions.
//
// Each SDK has a client, too, for tests of hub parts that act as a server. Inspector is the command line of
// @modelcontextprotocol/inspector.
//
// What must not live here: any knowledge of the hub.
package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// JournalVariable is the environment variable of a server over stdio that names the file for its journal. Without it
// the journal goes to stderr.
const JournalVariable = "PEER_JOURNAL"

// SDK is an SDK with which this project has a server, and a client that runs the scenario of scenario.mjs.
type SDK struct {
	folder         string
	server, client string // the npm packages that these need
	variable       string // of an SDK in Go: names a built program, for packages with many tests
}

// The environment variables that name built programs. Without them each test builds its own.
const (
	GoSDKVariable = "PEER_GOSDK"
	MCPGoVariable = "PEER_MCPGO"
)

// The SDKs. Those in TypeScript keep the name of their packages in the lock files.
var (
	TypeScript1 = SDK{"typescript1", "@modelcontextprotocol/sdk", "@modelcontextprotocol/sdk", ""}
	TypeScript2 = SDK{"typescript2", "@modelcontextprotocol/server", "@modelcontextprotocol/client", ""}
	GoSDK       = SDK{folder: "gosdk", variable: GoSDKVariable}
	MCPGo       = SDK{folder: "mcpgo", variable: MCPGoVariable}
)

// HTTP starts the server over Streamable HTTP, the eras at one URL, and over SSE, if the SDK has that.
func (s SDK) HTTP(t testing.TB) *Server {
	t.Helper()
	return overHTTP(t, s.program(t, s.server, "server.mjs"))
}

// Stdio returns the command that serves over stdio. A program that is built lives as long as the test.
func (s SDK) Stdio(t testing.TB) (cmd string, args []string) {
	t.Helper()
	command := s.program(t, s.server, "server.mjs")
	return command[0], append(command[1:], "stdio")
}

// Client returns the command of the client, without its arguments: the prefix of the names of a server's tools, the era
// ("legacy" or "auto"; not for TypeScript1), and then "http", a URL and an Authorization, or "stdio" and a command. It
// runs the scenario and writes the outcome of each step as a line of JSON.
func (s SDK) Client(t testing.TB) []string {
	t.Helper()
	command := s.program(t, s.client, "client.mjs")
	if s.variable != "" {
		command = append(command, "client")
	}
	return command
}

// program returns the command of a script, or of the program that is both server and client.
func (s SDK) program(t testing.TB, sdk, file string) []string {
	t.Helper()
	if s.variable == "" {
		return ours(t, s.folder, sdk, file)
	}
	if built := os.Getenv(s.variable); built != "" {
		return []string{built}
	}
	path := filepath.Join(t.TempDir(), s.folder)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = mustHome(t, s.folder, "server.go") // mcp-go's is a separate module
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return []string{path}
}

// TypeScript2Ordered returns the command of a client with the TypeScript SDK 2.x that makes calls by order, see
// ordered.mjs.
func TypeScript2Ordered(t testing.TB) []string {
	t.Helper()
	return ours(t, "typescript2", "@modelcontextprotocol/client", "ordered.mjs")
}

// Inspector returns the command line of the inspector, a client of other authors with the TypeScript SDK 2.x. It stores
// its data in the home directory.
func Inspector(t testing.TB) []string {
	t.Helper()
	path, err := script(mustHome(t, "inspector", lockFile), "@modelcontextprotocol/inspector", "clients", "launcher", "build",
		"index.js")
	if err != nil {
		t.Fatal(err)
	}
	return []string{node(t), path, "--cli"}
}

// ours returns the command of a script of this project with an installed SDK.
func ours(t testing.TB, folder, sdk, file string) []string {
	t.Helper()
	dir := mustHome(t, folder, lockFile)
	if _, err := installed(dir, sdk); err != nil {
		t.Fatal(err)
	}
	return []string{node(t), filepath.Join(dir, file)}
}

// overHTTP starts one of this project's servers. Its first line on stdout holds its addresses.
func overHTTP(t testing.TB, command []string) *Server {
	t.Helper()
	cmd := exec.Command(command[0], append(command[1:], "http")...)
	cmd.Env = os.Environ()
	return start(t, cmd, func(s *Server, line string) bool {
		var at struct{ URL, SSEURL string }
		if json.Unmarshal([]byte(line), &at) != nil || at.URL == "" {
			return false
		}
		s.URL, s.SSEURL = at.URL, at.SSEURL
		return true
	})
}

// everythingPackage is the reference server of the protocol's authors. It runs on Node and speaks the legacy era.
const everythingPackage = "@modelcontextprotocol/server-everything"

func everythingScript(t testing.TB) string {
	t.Helper()
	path, err := script(mustHome(t, "everything", lockFile), everythingPackage, "dist", "index.js")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Everything returns the command that serves @modelcontextprotocol/server-everything over stdio. The paths are
// absolute, so the caller is free to choose a working directory.
func Everything(t testing.TB) (cmd string, args []string) {
	t.Helper()
	return node(t), []string{everythingScript(t), "stdio"}
}

// EverythingHTTP starts server-everything over Streamable HTTP. It keeps no journal.
func EverythingHTTP(t testing.TB) *Server {
	t.Helper()
	return everything(t, "streamableHttp", "listening on port", func(s *Server, base string) { s.URL = base + "/mcp" })
}

// EverythingSSE starts server-everything over the HTTP+SSE transport of 2024-11-05. It keeps no journal.
func EverythingSSE(t testing.TB) *Server {
	t.Helper()
	return everything(t, "sse", "running on port", func(s *Server, base string) { s.SSEURL = base + "/sse" })
}

func everything(t testing.TB, transport, ready string, name func(s *Server, base string)) *Server {
	t.Helper()
	port := strconv.Itoa(freePort(t))
	cmd := exec.Command(node(t), "--import", endWithInput, everythingScript(t), transport)
	cmd.Env = append(os.Environ(), "PORT="+port)
	return start(t, cmd, func(s *Server, line string) bool {
		if !strings.Contains(line, ready+" "+port) {
			return false
		}
		name(s, "http://127.0.0.1:"+port)
		return true
	})
}

// endWithInput is a module that ends the process with its stdin, for servers that do not do that themselves, so that
// they never outlive a test.
const endWithInput = `data:text/javascript,process.stdin.resume().on("end",()=>process.exit(0))`

// freePort finds a port for a server that needs a port as its argument. Another process may take the port before the
// server does; the server then reports an error.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A foreign server that is missing must not go unnoticed: what is not installed fails the test with the command to run.

// home walks up from dir to the repository and returns the folder of a server, which holds that file. A test runs in
// its package's folder; runtime.Caller would be of no use under -trimpath.
func home(dir, server, file string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		home := filepath.Join(d, "internal", "peers", server)
		if _, err := os.Stat(filepath.Join(home, file)); err == nil {
			return home, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no folder above %s holds internal/peers/%s", dir, server)
		}
	}
}

// installed returns the folder of a package below a server's home, or an error that names the command to run.
func installed(home, name string) (string, error) {
	var pinned struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := readJSON(filepath.Join(home, "package.json"), &pinned); err != nil {
		return "", err
	}
	want := pinned.Dependencies[name]
	if want == "" {
		return "", fmt.Errorf("%s pins no %s", filepath.Join(home, "package.json"), name)
	}

	dir := filepath.Join(home, "node_modules", filepath.FromSlash(name))
	var found struct {
		Version string `json:"version"`
	}
	err := readJSON(filepath.Join(dir, "package.json"), &found)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is not installed: run `make peers`", name)
	}
	if err != nil {
		return "", err
	}
	if found.Version != want {
		return "", fmt.Errorf("%s is installed as %s, pinned is %s: run `make peers`", name, found.Version, want)
	}
	return dir, nil
}

// script returns a file of an installed package.
func script(home, name string, path ...string) (string, error) {
	dir, err := installed(home, name)
	if err != nil {
		return "", err
	}
	file := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("%s is damaged, run `make clean peers`: %w", name, err)
	}
	return file, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// lockFile is in the folder of each server on Node.
const lockFile = "package-lock.json"

// mustHome returns home for the folder in which the test runs.
func mustHome(t testing.TB, server, file string) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := home(wd, server, file)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// node returns the absolute path of Node.
func node(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("the servers need Node 20 or later: %v", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
	return path
}
