package peers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// JournalVariable names a file for the journal of a server over stdio, in the server's environment. Without it the
// journal goes to stderr.
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

// TypeScript1Client is the command of a client on the TypeScript SDK 1.x, less what it is to reach: the prefix of the
// names of a server's tools, and "http", a URL and an Authorization, or "stdio" and a command. It plays the scenario of
// scenario.mjs and writes what came of each step in lines of JSON.
func TypeScript1Client(t testing.TB) []string {
	t.Helper()
	return ours(t, "typescript1", "@modelcontextprotocol/sdk", "client.mjs")
}

// TypeScript2Client is TypeScript1Client on the TypeScript SDK 2.x. Behind the prefix the era follows, "legacy" or
// "auto".
func TypeScript2Client(t testing.TB) []string {
	t.Helper()
	return ours(t, "typescript2", "@modelcontextprotocol/client", "client.mjs")
}

// GoSDKClient is TypeScript2Client on the Go SDK.
func GoSDKClient(t testing.TB) []string {
	t.Helper()
	return []string{goSDKBinary(t), "client"}
}

// MCPGoClient is TypeScript2Client on mcp-go.
func MCPGoClient(t testing.TB) []string {
	t.Helper()
	return []string{mcpGoBinary(t), "client"}
}

// Inspector is the command line of the inspector, a client on the TypeScript SDK 2.x that other people wrote. What it
// keeps goes into the home directory.
func Inspector(t testing.TB) []string {
	t.Helper()
	path, err := script(mustHome(t, "inspector"), "@modelcontextprotocol/inspector", "clients", "launcher", "build",
		"index.js")
	if err != nil {
		t.Fatal(err)
	}
	return []string{node(t), path, "--cli"}
}

// typescript is the command of one of our servers on a TypeScript SDK, less its transport.
func typescript(t testing.TB, server, sdk string) []string {
	t.Helper()
	return ours(t, server, sdk, "server.mjs")
}

// ours is the command of a script of ours on an installed SDK.
func ours(t testing.TB, folder, sdk, file string) []string {
	t.Helper()
	dir := mustHome(t, folder)
	if _, err := installed(dir, sdk); err != nil {
		t.Fatal(err)
	}
	return []string{node(t), filepath.Join(dir, file)}
}

// GoSDKVariable names a binary of the server on the Go SDK, for a package whose many tests would link it again and
// again. Unset: it is built for each test.
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

// MCPGoVariable is for the server on mcp-go what GoSDKVariable is for the other.
const MCPGoVariable = "PEER_MCPGO"

// mcpGoBinary builds within the folder, which is a module of its own.
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

// goBinary builds a server, or gives the binary that the variable names.
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

// overHTTP starts one of our servers. Its first line on stdout says where it listens.
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
