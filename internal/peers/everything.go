package peers

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// everythingPackage is the reference server of the protocol's authors. It runs on Node and speaks the legacy era.
const everythingPackage = "@modelcontextprotocol/server-everything"

func everythingScript(t testing.TB) string {
	t.Helper()
	path, err := script(mustHome(t, "everything"), everythingPackage, "dist", "index.js")
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
