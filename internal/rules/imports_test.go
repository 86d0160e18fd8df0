package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport lists for each folder which folders of this repository its packages may import:
//
//	cmd -> internal/cli -> plugin -> ipc -> hub -> hub/{mcp,config} -> hub/{jsonrpc,transport}
//
// The entry of the longest matching folder applies, and a folder includes everything below it. Test files may also
// import internal. The compiler refuses cycles.
var mayImport = map[string][]string{
	"hub/bounds":    {"hub/bounds"},
	"hub/outbound":  {"hub/outbound", "hub/bounds"},
	"hub/proposal":  {"hub/proposal", "hub/bounds"},
	"hub/catalog":   {"hub/catalog", "hub/proposal", "hub/outbound", "hub/event", "hub/bounds", "hub/jsontext"},
	"hub/core":      {"hub/core", "hub/event"},
	"hub/process":   {"hub/process", "hub/bounds", "hub/statefile"},
	"hub/event":     {"hub/event", "hub/bounds"},
	"hub/grants":    {"hub/grants", "hub/process", "hub/event", "hub/config", "hub/statefile", "hub/bounds", "hub/redact"},
	"hub/sources":   {"hub/sources", "hub/event", "hub/config", "hub/redact", "hub/statefile", "hub/bounds"},
	"hub/journal":   {"hub/journal", "hub/core", "hub/event", "hub/bounds", "hub/jsonrpc", "hub/jsontext", "hub/redact"},
	"hub/jsontext":  {"hub/jsontext"},
	"hub/redact":    {"hub/redact", "hub/bounds"},
	"hub/schema":    {"hub/schema", "hub/bounds", "hub/jsontext"},
	"hub/jsonrpc":   {"hub/jsonrpc", "hub/bounds", "hub/jsontext"},
	"hub/toolset":   {"hub/toolset", "hub/journal", "hub/config", "hub/event", "hub/bounds", "hub/jsontext"},
	"hub/transport": {"hub/transport", "hub/bounds", "hub/jsontext"},
	"hub/signin":    {"hub/signin", "hub/config", "hub/event", "hub/transport", "hub/bounds", "hub/statefile", "hub/outbound"},
	"hub/mcp":       {"hub/mcp", "hub/jsonrpc", "hub/process", "hub/transport", "hub/bounds", "hub/jsontext", "hub/schema", "hub/outbound", "hub/protocol"},
	"hub/mcpserver": {"hub/mcpserver", "hub/jsonrpc", "hub/bounds", "hub/jsontext", "hub/protocol"},
	"hub/protocol":  {"hub/protocol"},
	"hub/config":    {"hub/config", "hub/jsonrpc", "hub/transport", "hub/bounds", "hub/event"},
	"hub/statefile": {"hub/statefile"},
	"hub":           {"hub"},
	"ipc":           {"ipc", "hub", "proto"},
	"plugin":        {"plugin", "ipc", "hub", "proto"},
	"cmd":           {"cmd", "internal/cli"},
	// Package cli has the tree of all commands. What is below it is in commandLine.
	"internal/cli":         {"internal/cli", "plugin", "hub"},
	"internal/cli/clitest": {"plugin", "ipc", "hub", "proto", "internal"},
	"proto":                {"proto"},
	// The demo server is part of the command. For the hub it is like a foreign server, so it uses none of the hub's
	// packages.
	"internal/demoserver": {"internal/demoserver"},
	// The doctor is a client that uses the hub's own transports and sessions. It does not use the hub.
	"internal/doctor": {"internal/doctor", "hub/mcp", "hub/jsonrpc", "hub/jsontext", "hub/process", "hub/transport", "hub/bounds"},
	// Its play is a server, and uses the other half.
	"internal/doctor/clients": {"internal/doctor", "hub/mcp", "hub/mcpserver", "hub/jsonrpc", "hub/jsontext", "hub/protocol",
		"hub/bounds"},
	// The server of the page relays the window stream. It does not use the hub.
	"internal/web": {"internal/web", "plugin/host", "proto", "hub/bounds"}, // bounds limits connections
	// The page is not Go. Its folder has one Go file, which embeds the page.
	"editors":  {"editors"},
	"internal": {"plugin", "ipc", "hub", "proto", "internal"},
}

// testsMayImport lists what the tests of a folder may import besides: the explorer of the core plays the machines of
// the wire with it.
var testsMayImport = map[string][]string{"hub/core": {"hub/jsonrpc", "hub/transport"}}

// belowCommands are the rooms of the command line that commands share. Each may import those before it.
var belowCommands = []string{"console", "exit", "cmd", "door", "source", "toolargs", "questions", "events", "session",
	"browser", "proposals"}

// commandLine are the folders that have commands. A command imports no other one.
var commandLine = []string{"call", "config", "demo", "demoserver", "docs", "doctor", "list", "mcp", "registry", "stdio",
	"trace", "web"}

func init() {
	may := []string{"plugin", "ipc", "hub", "proto", "internal/demoserver", "internal/web", "internal/doctor",
		"editors/page"}
	for _, room := range slices.Concat(belowCommands, commandLine) {
		folder := "internal/cli/" + room
		mayImport[folder] = append(slices.Clone(may), folder)
		if slices.Contains(belowCommands, room) {
			may = append(may, folder)
		}
	}
}

// importDirection checks every file, for whatever system it is built.
func importDirection(t *tree) []violation {
	var bad []violation
	for _, s := range t.code {
		allowed, ok := allowedImports(s.dir())
		if !ok {
			bad = append(bad, violation{path: s.path, text: "its folder has no import rule: add one to mayImport"})
			continue
		}
		if s.test {
			allowed = slices.Concat(allowed, testsMayImport[s.dir()], []string{"internal"})
		}
		for _, spec := range s.file.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			to, ours := strings.CutPrefix(p, modulePath+"/")
			if ours && !slices.ContainsFunc(allowed, func(f string) bool { return within(f, to) }) {
				bad = append(bad, s.at(spec, "%s may not import %s: imports point one way", s.dir(), to))
			}
		}
	}
	return bad
}

func allowedImports(dir string) (allowed []string, ok bool) {
	for d := dir; d != "."; d = path.Dir(d) {
		if allowed, ok := mayImport[d]; ok {
			return allowed, true
		}
	}
	return nil, false
}

func TestImportsPointOneWay(t *testing.T) {
	report(t, importDirection(repository(t)))
	for _, rule := range []map[string][]string{mayImport, testsMayImport} {
		for folder, allowed := range rule {
			report(t, without(repository(t), append([]string{folder}, allowed...)))
		}
	}
}

func TestImportsPointOneWayFindsViolations(t *testing.T) {
	imports := func(pkg string, paths ...string) string {
		text := "package " + pkg + "\n"
		for _, p := range paths {
			text += fmt.Sprintf("import _ %q\n", modulePath+"/"+p)
		}
		return text
	}
	finds(t, importDirection(made(t, map[string]string{
		"cmd/mcphub/main.go":            imports("main", "internal/cli"),
		"cmd/mcphub/fake.go":            imports("main", "internal/fakeserver"),
		"internal/cli/demo/demo.go":     imports("demo", "internal/cli/door", "plugin/host", "internal/demoserver"),
		"internal/cli/demo/side.go":     imports("demo", "internal/cli/call"),
		"internal/cli/demo/x_test.go":   imports("demo_test", "internal/cli/clitest"),
		"internal/cli/door/up.go":       imports("door", "internal/cli/session"),
		"plugin/serve.go":               imports("plugin", "ipc", "hub", "plugin/host", "proto/mcphub/v1"),
		"plugin/up.go":                  imports("plugin", "cmd/mcphub"),
		"ipc/call.go":                   imports("ipc", "hub", "hub/mcp", "proto/mcphub/v1"),
		"ipc/up.go":                     imports("ipc", "plugin"),
		"hub/hub.go":                    imports("hub", "hub/mcp", "hub/jsonrpc"),
		"hub/wire.go":                   imports("hub", "proto/mcphub/v1"),
		"hub/core/wire_test.go":         imports("core", "hub/jsonrpc", "hub/transport", "hub/mcp"),
		"hub/core/wire.go":              imports("core", "hub/jsonrpc"),
		"hub/mcp/session.go":            imports("mcp", "hub/jsonrpc"),
		"hub/mcp/up.go":                 imports("mcp", "hub"),
		"hub/mcp/side.go":               imports("mcp", "hub/config"),
		"hub/jsonrpc/side_windows.go":   imports("jsonrpc", "hub/transport"),
		"hub/jsonrpc/peer_test.go":      imports("jsonrpc", "internal/fakeserver"),
		"hub/jsonrpc/up_test.go":        imports("jsonrpc_test", "hub"),
		"hub/transport/fake.go":         imports("transport", "internal/fakeserver"),
		"internal/fakeserver/server.go": imports("fakeserver", "hub/jsonrpc", "proto/mcphub/v1", "internal/peers"),
		"internal/fakeserver/up.go":     imports("fakeserver", "cmd/mcphub"),
		"internal/demoserver/own.go":    imports("demoserver", "hub"),
		"internal/web/socket.go":        imports("web", "plugin/host", "proto/mcphub/v1"),
		"internal/web/page.go":          imports("web", "hub", "editors/page"),
		"editors/page/page.go":          imports("page", "internal/web"),
		"elsewhere/new.go":              imports("elsewhere"),
	})),
		"cmd/mcphub/fake.go:2", "internal/cli/demo/side.go:2", "internal/cli/door/up.go:2", "plugin/up.go:2", "ipc/up.go:2", "hub/wire.go:2", "hub/mcp/up.go:2", "hub/mcp/side.go:2",
		"hub/core/wire_test.go:4", "hub/core/wire.go:2",
		"hub/jsonrpc/side_windows.go:2", "hub/jsonrpc/up_test.go:2", "hub/transport/fake.go:2", "internal/fakeserver/up.go:2",
		"internal/demoserver/own.go:2", "internal/web/page.go:2", "internal/web/page.go:3",
		"editors/page/page.go:2", "elsewhere/new.go")
}

// foreignToHub are modules that the hub must not depend on, directly or indirectly, so that another plugin library or
// another API needs no change of the hub. The SDK is among them because its sessions cannot do what the hub needs, so
// the hub has an engine of its own.
var foreignToHub = []string{
	"google.golang.org/grpc",
	"google.golang.org/protobuf",
	"google.golang.org/genproto",
	"github.com/golang/protobuf",
	"github.com/grpc-ecosystem",
	"github.com/hashicorp/go-plugin",
	"github.com/modelcontextprotocol/go-sdk/mcp",
}

// listed is a package as `go list` returns it. Deps is transitive.
type listed struct {
	ImportPath string
	Deps       []string
}

func hubReaches(packages []listed) []violation {
	var bad []violation
	for _, p := range packages {
		for _, dep := range p.Deps {
			if slices.ContainsFunc(foreignToHub, func(f string) bool { return within(f, dep) }) {
				bad = append(bad, violation{
					path: strings.TrimPrefix(p.ImportPath, modulePath+"/"),
					text: fmt.Sprintf("reaches %s", dep),
				})
			}
		}
	}
	return bad
}

func TestHubKnowsNoDoor(t *testing.T) {
	root := repositoryRoot(t)
	for _, goos := range []string{"linux", "windows", "darwin"} {
		t.Run(goos, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Deps", "./hub/...")
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, stderr.Bytes())
			}
			packages := decodeList(t, out)
			if len(packages) == 0 {
				t.Fatal("no package under hub")
			}
			report(t, hubReaches(packages))
		})
	}
}

func decodeList(t *testing.T, out []byte) []listed {
	t.Helper()
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestHubKnowsNoDoorFindsViolations(t *testing.T) {
	finds(t, hubReaches([]listed{
		{modulePath + "/hub", []string{"fmt", "google.golang.org/grpc/codes"}},
		{modulePath + "/hub/mcp", []string{"context", "google.golang.org/grpcx",
			"github.com/modelcontextprotocol/go-sdk/auth"}},
		{modulePath + "/hub/config", []string{"github.com/hashicorp/go-plugin"}},
	}), "hub", "hub/config")
}
