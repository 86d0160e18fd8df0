package config

import (
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// Drives, shares and devices in a config: an absolute path stays, with one kind of separator; a path that begins with a
// separator begins at the root of the drive or the share; a drive is not taken for a scheme or a name.
func TestDrivesAndShares(t *testing.T) {
	for _, tt := range []struct{ dir, folder, file, want string }{
		{`D:\work`, `C:\ws`, `C:\conf\mcp.json`, `D:\work`},
		{`D:/work`, `C:\ws`, `C:\conf\mcp.json`, `D:\work`},
		{`\\host\share\x`, `C:\ws`, `C:\conf\mcp.json`, `\\host\share\x`},
		{`//host/share/x`, `C:\ws`, `C:\conf\mcp.json`, `\\host\share\x`},
		{`\\?\C:\long\x`, `C:\ws`, `C:\conf\mcp.json`, `\\?\C:\long\x`},
		{`\tools`, `D:\ws\a`, `C:\conf\mcp.json`, `D:\tools`},
		{`/tools`, `\\host\share\ws`, `C:\conf\mcp.json`, `\\host\share\tools`},
		{`sub`, `\\host\share\ws`, `C:\conf\mcp.json`, `\\host\share\ws\sub`},
		{`..\x/y`, `C:\ws\a`, `C:\conf\mcp.json`, `C:\ws\x\y`},
		{`sub`, ``, `\\host\share\mcp.json`, `\\host\share\sub`},
		{`~\x`, `C:\ws`, `C:\conf\mcp.json`, `C:\Users\u\x`},
		{`~/x`, `C:\ws`, `C:\conf\mcp.json`, `C:\Users\u\x`},
		{`${workspaceFolder}/x`, `C:\ws`, `C:\conf\mcp.json`, `C:\ws\x`},
	} {
		s := Server{Command: "c", Dir: tt.dir, Origin: Origin{Dialect: DialectVSCode, Folder: tt.folder, File: tt.file}}
		if r, err := s.Resolve(Variables{Home: `C:\Users\u`}); err != nil || r.Dir != tt.want {
			t.Errorf("%s in %q of %s: %q, %v; want %q", tt.dir, tt.folder, tt.file, r.Dir, err, tt.want)
		}
	}
	s := Server{Command: `D:\tools\node.exe`, Args: []string{`C:\a b\x`, `\\.\pipe\mcp`},
		Origin: Origin{Dialect: DialectVSCode}}
	if r, err := s.Resolve(Variables{}); err != nil || r.Command != s.Command || r.Args[1] != `\\.\pipe\mcp` {
		t.Errorf("%+v, %v", r, err)
	}
	auto, problems := Load([]Source{{Path: "f", JSON: []byte(`{"mcpServers": {"s": {"command": "C:\\node.exe"}}}`)}})
	if len(problems) != 0 || auto[0].Command != `C:\node.exe` {
		t.Errorf("%v, %v", auto, problems)
	}
}

// A pipe or a device in the place of a file is not read: a pipe to which nobody writes would block the reader.
func TestPipeIsNoFile(t *testing.T) {
	const name = `\\.\pipe\mcphub-test-config`
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := windows.CreateNamedPipe(path, windows.PIPE_ACCESS_DUPLEX, windows.PIPE_TYPE_BYTE, 1, 512, 512, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(pipe)
	for _, name := range []string{name, `\\.\pipe\mcphub-test-nothing`, `\\.\nul`, "NUL"} {
		s := Server{Name: "s", Command: "c", EnvFile: name, Origin: Origin{Dialect: DialectVSCode, Folder: `C:\ws`}}
		if _, err := s.Resolve(Variables{}); err == nil || !strings.Contains(err.Error(), "envFile") {
			t.Errorf("%s is read: %v", name, err)
		}
	}
}
