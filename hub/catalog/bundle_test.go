package catalog

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

// file is one entry of a ZIP.
type file struct {
	name, content string
	mode          fs.FileMode
}

// pack makes a ZIP, in the order of its files.
func pack(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.content == "" {
			h.Method = zip.Store // a compressor for each of many thousand files takes half a minute
		}
		if f.mode != 0 {
			h.SetMode(f.mode)
		}
		e, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(e, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func manifestOf(server, rest string) string {
	return `{"manifest_version": "0.3", "name": "weather", "version": "1.0.0", "description": "Weather",
		"display_name": "The Weather", "author": {"name": "Somebody"}, "tools": [{"name": "now"}],
		"server": ` + server + rest + `}`
}

const nodeServer = `{"type": "node", "entry_point": "server/index.js", "mcp_config": {"command": "node",
	"args": ["${__dirname}/server/index.js"], "env": {}}}`

// node is a valid bundle.
func node(t testing.TB, more ...file) []byte {
	return pack(t, append([]file{{"manifest.json", manifestOf(nodeServer, ""), 0},
		{"server/index.js", "console.log(1)", 0}}, more...)...)
}

func saved(t testing.TB, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "weather.mcpb")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A ZIP with a signature behind it is read as one without.
func TestSignedBundle(t *testing.T) {
	signed := append(node(t), ("MCPB_SIG_V1" + strings.Repeat("x", 5000) + "MCPB_SIG_END")...)
	if _, err := NewShelf(ShelfOptions{}).Read(t.Context(), saved(t, signed)); err != nil {
		t.Error(err)
	}
}

func TestHostileArchives(t *testing.T) {
	ok := []file{{"manifest.json", manifestOf(nodeServer, ""), 0}, {"server/index.js", "x", 0}}
	with := func(f ...file) []byte { return pack(t, append(append([]file{}, ok...), f...)...) }
	lying := node(t, file{"big", strings.Repeat("\x00", 10_000), 0})
	lying = bytes.ReplaceAll(lying, le32(10_000), le32(10)) // directory and data descriptor say that it is short
	overlapping := overlap(with(file{"aaaa", strings.Repeat("0123456789", 200), 0}))
	many := make([]file, maxEntries)
	for i := range many {
		many[i] = file{name: "f" + strings.Repeat("x", i%200) + "/" + string(rune('a'+i%26)) + strings.Repeat("y", i/200)}
	}
	reasons := map[string]string{"overlapping": "overlap", "huge": "1024 MiB", "link": "link", "parent": "leads out",
		"many": "50000 files", "twice by case": "twice"}
	for name, content := range map[string][]byte{
		"no zip":              []byte("MZ"),
		"empty":               nil,
		"parent":              with(file{"../evil", "x", 0}),
		"parent inside":       with(file{"a/../../evil", "x", 0}),
		"absolute":            with(file{"/etc/evil", "x", 0}),
		"drive":               with(file{"C:/evil", "x", 0}),
		"backslash":           with(file{`..\evil`, "x", 0}),
		"stream":              with(file{"a:b", "x", 0}),
		"device":              with(file{"server/NUL.txt", "x", 0}),
		"com":                 with(file{"com1", "x", 0}),
		"dot":                 with(file{"a./b", "x", 0}),
		"blank":               with(file{"a ", "x", 0}),
		"control":             with(file{"a\nb", "x", 0}),
		"no name":             with(file{"", "x", 0}),
		"itself":              with(file{".", "x", 0}),
		"long":                with(file{strings.Repeat("x", 1000), "x", 0}),
		"deep":                with(file{strings.Repeat("x/", 100) + "y", "x", 0}),
		"link":                with(file{"link", "/etc/passwd", fs.ModeSymlink | 0o777}),
		"pipe":                with(file{"pipe", "", fs.ModeNamedPipe | 0o600}),
		"device file":         with(file{"dev", "", fs.ModeDevice | 0o600}),
		"twice":               with(file{"server/index.js", "y", 0}),
		"twice by case":       with(file{"Server/INDEX.js", "y", 0}),
		"file and folder":     with(file{"server", "y", 0}),
		"folder under a file": with(file{"server/index.js/x", "y", 0}),
		"folder as a file":    with(file{"dir", "", fs.ModeDir | 0o755}),
		"many":                with(many...),
		"overlapping":         overlapping,
		"huge":                huge(node(t, file{"big", "x", 0})),
		"no manifest":         pack(t, file{"server/index.js", "x", 0}),
		"manifest in a folder": pack(t, file{"weather/manifest.json", manifestOf(nodeServer, ""), 0},
			file{"weather/server/index.js", "x", 0}),
		"long manifest": pack(t, file{"manifest.json", manifestOf(nodeServer, ` `+strings.Repeat(" ", maxManifestBytes)), 0},
			file{"server/index.js", "x", 0}),
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			_, err := NewShelf(ShelfOptions{StateDir: state}).Read(t.Context(), saved(t, content))
			if e := event.AsError(err); e == nil || e.Reason != event.ReasonBundleInvalid {
				t.Errorf("taken: %v", err)
			} else if why := reasons[name]; why != "" && !strings.Contains(e.Message, why) {
				t.Errorf("%v, want %q", err, why)
			}
			if left, _ := os.ReadDir(state); len(left) > 0 {
				t.Error(left)
			}
		})
	}
	t.Run("larger than it says", func(t *testing.T) {
		s := NewShelf(ShelfOptions{StateDir: t.TempDir()})
		b, err := s.Read(t.Context(), saved(t, lying))
		if err == nil {
			_, err = s.Unpack(t.Context(), b)
		}
		if e := event.AsError(err); e == nil || e.Reason != event.ReasonBundleInvalid {
			t.Errorf("taken: %v", err)
		}
		if b != nil {
			if _, err := os.Stat(b.Folder); err == nil {
				t.Error("something was left")
			}
		}
	})
}

// countedReads is a file that counts the bytes that are read of it.
type countedReads struct {
	r    io.ReaderAt
	read int
}

func (c *countedReads) ReadAt(p []byte, off int64) (n int, err error) {
	n, err = c.r.ReadAt(p, off)
	c.read += n
	return n, err
}

// A ZIP whose directory alone would fill the memory is not read to its end.
func TestHugeDirectory(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	long := strings.Repeat("x", 30_000)
	for i := range 1_000 {
		f, err := w.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("%04d", i) + long})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write(nil)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if at := bytes.Index(b.Bytes(), []byte("PK\x01\x02")); b.Len()-at < maxDirectoryBytes*3/2 {
		t.Fatalf("the directory has %d bytes: it shows nothing", b.Len()-at)
	}
	c := &countedReads{r: bytes.NewReader(b.Bytes())}
	if _, err := openArchive(c, int64(b.Len())); err == nil {
		t.Error("taken")
	}
	if c.read > maxDirectoryBytes {
		t.Errorf("%d bytes of it were read", c.read)
	}
}

func le32(n uint32) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }

// overlap has 5,000 names for one piece of data in the directory: each entry alone is in order.
func overlap(b []byte) []byte {
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		panic(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range r.File {
		_ = w.Copy(f)
	}
	_ = w.Flush()
	_ = w.Close()
	whole := out.Bytes()
	// The entry of the last file comes again, each time with another name of the same length.
	end := bytes.LastIndex(whole, []byte("PK\x05\x06"))
	entryAt := bytes.LastIndex(whole[:end], []byte("PK\x01\x02"))
	entry := whole[entryAt:end]
	var directory bytes.Buffer
	directory.Write(whole[int(le(whole[end+16:])):end])
	n := len(r.File)
	for i := range 5000 {
		e := bytes.Clone(entry)
		copy(e[46:], fmt.Sprintf("%04d", i))
		directory.Write(e)
		n++
	}
	result := append(bytes.Clone(whole[:le(whole[end+16:])]), directory.Bytes()...)
	tail := bytes.Clone(whole[end:])
	tail[8], tail[9], tail[10], tail[11] = byte(n), byte(n>>8), byte(n), byte(n>>8)
	copy(tail[12:], le32(uint32(directory.Len())))
	return append(result, tail...)
}

func le(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// huge has the directory say that the last file has 4 GB.
func huge(b []byte) []byte {
	b = bytes.Clone(b)
	at := bytes.LastIndex(b, []byte("PK\x01\x02"))
	copy(b[at+24:], le32(0xfffffff0))
	return b
}

func TestHostileManifests(t *testing.T) {
	for name, manifest := range map[string]string{
		"no json":      "x",
		"array":        "[]",
		"deep":         strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		"twice":        `{"manifest_version": "0.3", "manifest_version": "0.2"}`,
		"version":      strings.Replace(manifestOf(nodeServer, ""), "0.3", "9.0", 1),
		"no version":   `{"name": "x"}`,
		"no name":      strings.Replace(manifestOf(nodeServer, ""), `"name": "weather"`, `"name": ""`, 1),
		"no author":    strings.Replace(manifestOf(nodeServer, ""), `"name": "Somebody"`, `"n": 1`, 1),
		"kind":         strings.Replace(manifestOf(nodeServer, ""), `"node"`, `"shell"`, 1),
		"no config":    manifestOf(`{"type": "node", "entry_point": "server/index.js"}`, ""),
		"no command":   manifestOf(`{"type": "node", "entry_point": "server/index.js", "mcp_config": {}}`, ""),
		"entry":        strings.Replace(manifestOf(nodeServer, ""), `t": "server/index.js"`, `t": "x.js"`, 1),
		"entry away":   strings.Replace(manifestOf(nodeServer, ""), `t": "server/index.js"`, `t": "../x"`, 1),
		"other's file": strings.Replace(manifestOf(nodeServer, ""), `"command": "node"`, `"command": "/usr/bin/env"`, 1),
		"file away":    strings.Replace(manifestOf(nodeServer, ""), `"command": "node"`, `"command": "${__dirname}/../x"`, 1),
		"undeclared":   strings.Replace(manifestOf(nodeServer, ""), `"env": {}`, `"env": {"A": "${user_config.a}"}`, 1),
		"variable":     strings.Replace(manifestOf(nodeServer, ""), `"env": {}`, `"env": {"A=B": "x"}`, 1),
		"chosen": manifestOf(strings.Replace(nodeServer, `d": "node"`, `d": "${user_config.a}"`, 1),
			`, "user_config": {"a": {"type": "string"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			at := saved(t, pack(t, file{"manifest.json", manifest, 0}, file{"server/index.js", "x", 0}))
			_, err := NewShelf(ShelfOptions{StateDir: t.TempDir()}).Read(t.Context(), at)
			if e := event.AsError(err); e == nil || e.Reason != event.ReasonBundleInvalid {
				t.Errorf("taken: %v", err)
			}
		})
	}
	// A bundle with a value that would be a variable in a config file cannot be added, but can be looked at.
	at := saved(t, pack(t, file{"manifest.json", strings.Replace(manifestOf(nodeServer, ""), `"env": {}`,
		`"env": {"A": "${env:SECRET}"}`, 1), 0}, file{"server/index.js", "x", 0}))
	b, err := NewShelf(ShelfOptions{StateDir: t.TempDir()}).Read(t.Context(), at)
	if err != nil || b.Proposal.Usable() || !strings.Contains(b.Proposal.Unusable, "variable") {
		t.Errorf("%v %v", b, err)
	}
}

// entryOn makes the entry for a system, with values by the keys of user_config.
func entryOn(t *testing.T, goos, manifest string, values map[string][]string, files ...file) (proposal.Entry, *Bundle) {
	t.Helper()
	at := saved(t, pack(t, append([]file{{"manifest.json", manifest, 0}}, files...)...))
	b, err := NewShelf(ShelfOptions{StateDir: t.TempDir(), GOOS: goos, Home: "/users/me"}).Read(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string][]string{}
	for key, v := range values {
		given[proposal.ID(proposal.Prefix("weather", b.SHA256), key)] = v
	}
	e, err := b.Proposal.Fill(given)
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.Args {
		e.Args[i] = strings.ReplaceAll(e.Args[i], b.Folder, "DIR")
	}
	for name, value := range e.Env {
		e.Env[name] = strings.ReplaceAll(value, b.Folder, "DIR")
	}
	e.Command = filepath.ToSlash(strings.ReplaceAll(e.Command, b.Folder, "DIR"))
	return e, b
}

func TestVariables(t *testing.T) {
	const server = `{"type": "node", "entry_point": "server/index.js", "mcp_config": {"command": "node",
		"args": ["${__dirname}/server/index.js", "--home=${HOME}", "${user_config.dirs}", "--port", "${user_config.port}",
			"--level", "${user_config.level}", "--key=${user_config.key}"],
		"env": {"KEY": "${user_config.key}", "ON": "${user_config.on}", "SEP": "a${/}b"},
		"platform_overrides": {"win32": {"args": ["win.js"], "env": {"KEY": "none"}}}}}`
	const config = `, "user_config": {"dirs": {"type": "directory", "title": "Folders", "multiple": true, "required": true,
			"default": ["${HOME}/Desktop"]}, "port": {"type": "number", "min": 1, "max": 10},
		"level": {"type": "string", "default": "info"}, "key": {"type": "string", "sensitive": true, "required": true},
		"on": {"type": "boolean", "default": true}}`
	files := []file{{"server/index.js", "x", 0}, {"win.js", "x", 0}}
	e, b := entryOn(t, "linux", manifestOf(server, config), nil, files...)
	key := "${input:" + proposal.ID(proposal.Prefix("weather", b.SHA256), "key") + "}"
	want := []string{"DIR/server/index.js", "--home=/users/me", "/users/me/Desktop", "--level", "info", "--key=" + key}
	if diff := cmp.Diff(want, e.Args); diff != "" || e.Dir != "" {
		t.Error(diff, e.Dir)
	}
	sep := "a" + string(filepath.Separator) + "b"
	if diff := cmp.Diff(map[string]string{"KEY": key, "ON": "true", "SEP": sep}, e.Env); diff != "" {
		t.Error(diff)
	}
	if len(e.Asked) != 1 || !e.Asked[0].Secret {
		t.Error(e.Asked)
	}
	e, _ = entryOn(t, "linux", manifestOf(server, config), map[string][]string{"dirs": {"/a", "/b c"}, "port": {"7"},
		"key": {"k"}, "on": {"false"}, "level": {}}, files...)
	want = []string{"DIR/server/index.js", "--home=/users/me", "/a", "/b c", "--port", "7", "--key=k"}
	if diff := cmp.Diff(want, e.Args); diff != "" || e.Env["ON"] != "false" || e.Env["KEY"] != "k" {
		t.Error(diff, e.Env)
	}
	e, b = entryOn(t, "windows", manifestOf(server, config), nil, files...)
	if diff := cmp.Diff([]string{"win.js"}, e.Args); diff != "" || e.Env["KEY"] != "none" || e.Env["SEP"] != sep ||
		e.Dir != b.Folder {
		t.Error(diff, e.Env, e.Dir)
	}
}

func TestKinds(t *testing.T) {
	for name, tt := range map[string]struct {
		goos, server, rest string
		files              []file
		want               string
	}{
		"binary": {"linux", `{"type": "binary", "entry_point": "bin/w",
			"mcp_config": {"command": "bin/w", "args": ["-x"]}}`, "", []file{{"bin/w", "ELF", 0}}, "DIR/bin/w -x"},
		"binary below": {"linux", `{"type": "binary", "entry_point": "bin/w",
			"mcp_config": {"command": "${__dirname}/bin/w"}}`, "", []file{{"bin/w", "ELF", 0}}, "DIR/bin/w"},
		"exe": {"windows", `{"type": "binary", "entry_point": "bin/w", "mcp_config": {"command": "bin/w"}}`, "",
			[]file{{"bin/w.exe", "MZ", 0}}, "DIR/bin/w.exe"},
		"python": {"linux", `{"type": "python", "entry_point": "main.py", "mcp_config": {"command": "python",
			"args": ["${__dirname}/main.py"]}}`, "", []file{{"main.py", "", 0}}, "python DIR/main.py"},
		"uv": {"linux", `{"type": "uv", "entry_point": "src/s.py"}`, "", []file{{"src/s.py", "", 0}},
			"uv run --directory DIR src/s.py"},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := manifestOf(tt.server, tt.rest)
			e, _ := entryOn(t, tt.goos, manifest, nil, tt.files...)
			if got := strings.Join(append([]string{e.Command}, e.Args...), " "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	mac := manifestOf(nodeServer, `, "compatibility": {"platforms": ["darwin"]}`)
	at := saved(t, pack(t, file{"manifest.json", mac, 0}, file{"server/index.js", "x", 0}))
	for goos, usable := range map[string]bool{"linux": false, "windows": false, "darwin": true} {
		b, err := NewShelf(ShelfOptions{StateDir: t.TempDir(), GOOS: goos}).Read(t.Context(), at)
		if err != nil || b.Proposal.Usable() != usable {
			t.Errorf("%s: %v %v", goos, b.Proposal.Unusable, err)
		}
	}
}
