package peers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// JournalVariable is the environment variable of a server over stdio that names the file for its journal. Without it
// the journal goes to stderr.
const JournalVariable = "PEER_JOURNAL"

// TypeScript1 starts the server on the TypeScript SDK 1.x over Streamable HTTP and SSE.
func TypeScript1(t testing.TB) *Server {
	t.Helper()
	return overHTTP(t, typescript(t, "typescript1", "@modelcontextprotocol/sdk"))
}

// TypeScript1Stdio returns the command that serves it over stdio.
func TypeScript1Stdio(t testing.TB) (cmd string, args []string) {
	t.Helper()
	return overStdio(typescript(t, "typescript1", "@modelcontextprotocol/sdk"))
}

// TypeScript2 starts the server on the TypeScript SDK 2.x over Streamable HTTP, both eras at one URL.
func TypeScript2(t testing.TB) *Server {
	t.Helper()
	return overHTTP(t, typescript(t, "typescript2", "@modelcontextprotocol/server"))
}

// TypeScript2Stdio returns the command that serves it over stdio, both eras.
func TypeScript2Stdio(t testing.TB) (cmd string, args []string) {
	t.Helper()
	return overStdio(typescript(t, "typescript2", "@modelcontextprotocol/server"))
}

// GoSDK starts the server on the Go SDK over Streamable HTTP, both eras at one URL, and SSE.
func GoSDK(t testing.TB) *Server {
	t.Helper()
	return overHTTP(t, []string{goSDKBinary(t)})
}

// GoSDKStdio returns the command that serves it over stdio, both eras. The binary lives as long as the test.
func GoSDKStdio(t testing.TB) (cmd string, args []string) {
	t.Helper()
	return overStdio([]string{goSDKBinary(t)})
}

// TypeScript1Client returns the command of a client with the TypeScript SDK 1.x, without its arguments: the prefix of
// the names of a server's tools, and then "http", a URL and an Authorization, or "stdio" and a command. It runs the
// scenario of scenario.mjs and writes the outcome of each step as a line of JSON.
func TypeScript1Client(t testing.TB) []string {
	t.Helper()
	return ours(t, "typescript1", "@modelcontextprotocol/sdk", "client.mjs")
}

// TypeScript2Client does the same for the TypeScript SDK 2.x. After the prefix comes the era, "legacy" or "auto".
func TypeScript2Client(t testing.TB) []string {
	t.Helper()
	return ours(t, "typescript2", "@modelcontextprotocol/client", "client.mjs")
}

// TypeScript2Ordered returns the command of a client with the TypeScript SDK 2.x that makes calls by order, see
// ordered.mjs.
func TypeScript2Ordered(t testing.TB) []string {
	t.Helper()
	return ours(t, "typescript2", "@modelcontextprotocol/client", "ordered.mjs")
}

// GoSDKClient does the same as TypeScript2Client for the Go SDK.
func GoSDKClient(t testing.TB) []string {
	t.Helper()
	return []string{goSDKBinary(t), "client"}
}

// MCPGoClient does the same as TypeScript2Client for mcp-go.
func MCPGoClient(t testing.TB) []string {
	t.Helper()
	return []string{mcpGoBinary(t), "client"}
}

// Inspector returns the command line of the inspector, a client of other authors with the TypeScript SDK 2.x. It stores
// its data in the home directory.
func Inspector(t testing.TB) []string {
	t.Helper()
	path, err := script(mustHome(t, "inspector"), "@modelcontextprotocol/inspector", "clients", "launcher", "build",
		"index.js")
	if err != nil {
		t.Fatal(err)
	}
	return []string{node(t), path, "--cli"}
}

// typescript returns the command of one of this project's servers with a TypeScript SDK, without its transport.
func typescript(t testing.TB, server, sdk string) []string {
	t.Helper()
	return ours(t, server, sdk, "server.mjs")
}

// ours returns the command of a script of this project with an installed SDK.
func ours(t testing.TB, folder, sdk, file string) []string {
	t.Helper()
	dir := mustHome(t, folder)
	if _, err := installed(dir, sdk); err != nil {
		t.Fatal(err)
	}
	return []string{node(t), filepath.Join(dir, file)}
}

// GoSDKVariable names a binary of the server with the Go SDK, for packages with many tests, which would otherwise build
// it for each test.
const GoSDKVariable = "PEER_GOSDK"

func goSDKBinary(t testing.TB) string {
	t.Helper()
	return goBinary(t, GoSDKVariable, "gosdk", ".", "github.com/mcphub-go/mcphub/internal/peers/gosdk")
}

// MCPGo starts the server on mcp-go over Streamable HTTP, both eras at one URL, and SSE.
func MCPGo(t testing.TB) *Server {
	t.Helper()
	return overHTTP(t, []string{mcpGoBinary(t)})
}

// MCPGoStdio returns the command that serves it over stdio, both eras. The binary lives as long as the test.
func MCPGoStdio(t testing.TB) (cmd string, args []string) {
	t.Helper()
	return overStdio([]string{mcpGoBinary(t)})
}

// MCPGoVariable does the same for the server with mcp-go.
const MCPGoVariable = "PEER_MCPGO"

// mcpGoBinary builds the server in its folder, which is a separate module.
func mcpGoBinary(t testing.TB) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := home(wd, "mcpgo", "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	return goBinary(t, MCPGoVariable, "mcpgo", dir, ".")
}

// goBinary builds a server, or returns the binary that the variable names.
func goBinary(t testing.TB, variable, name, dir, pkg string) string {
	t.Helper()
	if built := os.Getenv(variable); built != "" {
		return built
	}
	path := filepath.Join(t.TempDir(), name)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

func overStdio(command []string) (cmd string, args []string) {
	return command[0], append(command[1:], "stdio")
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
