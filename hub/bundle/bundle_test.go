package bundle

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

// node is a bundle that is in order.
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

func TestReadAndUnpack(t *testing.T) {
	state := t.TempDir()
	s := NewShelf(Options{StateDir: state})
	at := saved(t, node(t, file{"bin/run", "#!/bin/sh\n", 0o755}, file{"empty/", "", fs.ModeDir | 0o755},
		file{"deep/a/b/c.txt", "c", 0o644}))
	b, err := s.Read(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	want := Info{Name: "weather", Title: "The Weather", Description: "Weather", Version: "1.0.0", Author: "Somebody",
		Tools: []string{"now"}}
	if diff := cmp.Diff(want, b.Info); diff != "" {
		t.Error(diff)
	}
	e, err := b.Proposal.Fill(nil)
	if err != nil || e.Server != "weather" || e.Command != "node" ||
		!cmp.Equal(e.Args, []string{b.Folder + "/server/index.js"}) {
		t.Errorf("%+v %v", e, err)
	}
	if _, err := os.Stat(filepath.Join(state, "bundles")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written before the bundle was to be unpacked", err)
	}
	undo, err := s.Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(b.Folder, "deep", "a", "b", "c.txt")); err != nil || string(text) != "c" {
		t.Error(string(text), err)
	}
	if info, err := os.Stat(filepath.Join(b.Folder, "bin", "run")); err != nil ||
		runtime.GOOS != "windows" && info.Mode() != 0o700 {
		t.Error(info.Mode(), err)
	}
	again, err := s.Unpack(t.Context(), b) // it is there
	if err != nil {
		t.Fatal(err)
	}
	again()
	if _, err := os.Stat(filepath.Join(b.Folder, "manifest.json")); err != nil {
		t.Error("what was there before went", err)
	}
	undo()
	if left, _ := os.ReadDir(filepath.Join(state, "bundles")); len(left) != 0 {
		t.Error(left)
	}
}

// A ZIP with a signature behind it is read as one without.
func TestSignedBundle(t *testing.T) {
	signed := append(node(t), ("MCPB_SIG_V1" + strings.Repeat("x", 5000) + "MCPB_SIG_END")...)
	if _, err := NewShelf(Options{}).Read(t.Context(), saved(t, signed)); err != nil {
		t.Error(err)
	}
}

func TestHostileArchives(t *testing.T) {
	ok := []file{{"manifest.json", manifestOf(nodeServer, ""), 0}, {"server/index.js", "x", 0}}
	with := func(f ...file) []byte { return pack(t, append(append([]file{}, ok...), f...)...) }
	lying := node(t, file{"big", strings.Repeat("\x00", 10_000), 0})
	lying = bytes.ReplaceAll(lying, le32(10_000), le32(10)) // both directories say that it is short
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
			_, err := NewShelf(Options{StateDir: state}).Read(t.Context(), saved(t, content))
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
		s := NewShelf(Options{StateDir: t.TempDir()})
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
			_, err := NewShelf(Options{StateDir: t.TempDir()}).Read(t.Context(), at)
			if e := event.AsError(err); e == nil || e.Reason != event.ReasonBundleInvalid {
				t.Errorf("taken: %v", err)
			}
		})
	}
	// What would be a variable in a config file cannot be added, but can be looked at.
	at := saved(t, pack(t, file{"manifest.json", strings.Replace(manifestOf(nodeServer, ""), `"env": {}`,
		`"env": {"A": "${env:SECRET}"}`, 1), 0}, file{"server/index.js", "x", 0}))
	b, err := NewShelf(Options{StateDir: t.TempDir()}).Read(t.Context(), at)
	if err != nil || b.Proposal.Usable() || !strings.Contains(b.Proposal.Unusable, "variable") {
		t.Errorf("%v %v", b, err)
	}
}

// entryOn makes the entry for a system, with values by the keys of user_config.
func entryOn(t *testing.T, goos, manifest string, values map[string][]string, files ...file) (proposal.Entry, *Bundle) {
	t.Helper()
	at := saved(t, pack(t, append([]file{{"manifest.json", manifest, 0}}, files...)...))
	b, err := NewShelf(Options{StateDir: t.TempDir(), GOOS: goos, Home: "/users/me"}).Read(t.Context(), at)
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
		b, err := NewShelf(Options{StateDir: t.TempDir(), GOOS: goos}).Read(t.Context(), at)
		if err != nil || b.Proposal.Usable() != usable {
			t.Errorf("%s: %v %v", goos, b.Proposal.Unusable, err)
		}
	}
}

// The file that is unpacked is the one that was looked at.
func TestChangedBundle(t *testing.T) {
	s := NewShelf(Options{StateDir: t.TempDir()})
	at := saved(t, node(t))
	b, err := s.Read(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, node(t, file{"evil", "x", 0}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Unpack(t.Context(), b); event.AsError(err).Reason != event.ReasonBundleInvalid {
		t.Error(err)
	}
	if _, err := os.Stat(b.Folder); err == nil {
		t.Error("it was unpacked")
	}
}

// Who gives up leaves nothing.
func TestUnpackGivenUp(t *testing.T) {
	state := t.TempDir()
	s := NewShelf(Options{StateDir: state})
	b, err := s.Read(t.Context(), saved(t, node(t)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := s.Unpack(ctx, b); event.AsError(err).Code != event.CodeCancelled {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Join(state, "bundles")); len(left) > 0 {
		t.Error(left)
	}
}

// Of two who add the same bundle one may fail: the other keeps its folder. When both take it back, it goes.
func TestUnpackedForTwo(t *testing.T) {
	s := NewShelf(Options{StateDir: t.TempDir()})
	b, err := s.Read(t.Context(), saved(t, node(t)))
	if err != nil {
		t.Fatal(err)
	}
	there := func() bool { _, err := os.Stat(b.Folder); return err == nil }
	first, err := s.Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if first(); !there() {
		t.Error("the folder of the other was removed")
	}
	if second(); there() {
		t.Error("it was left")
	}
	if _, err := s.Unpack(t.Context(), b); err != nil || !there() {
		t.Error("not again:", err)
	}
	again, err := NewShelf(Options{StateDir: filepath.Dir(filepath.Dir(b.Folder))}).Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if again(); !there() {
		t.Error("what another hub has was removed")
	}
}

// A ZIP whose directory alone would fill the memory is not read to its end.
func TestHugeDirectory(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 200_000 {
		f, err := w.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("%0100d", i)})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write(nil)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	at := saved(t, b.Bytes())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := NewShelf(Options{}).Read(t.Context(), at)
	runtime.ReadMemStats(&after)
	if e := event.AsError(err); e == nil || e.Reason != event.ReasonBundleInvalid {
		t.Error(err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 100<<20 {
		t.Errorf("%d MB for a file of %d MB", got>>20, b.Len()>>20)
	}
}

// What the disk does not take is told as that, whatever the download says.
func TestFetchOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no full disk here")
	}
	defer full.Close()
	w := &disk{w: full}
	if _, err := io.Copy(w, strings.NewReader("x")); w.err == nil || !errors.Is(err, w.err) {
		t.Error(err, w.err)
	}
	if e := event.AsError(noPlace(w.err)); !strings.Contains(e.Message, "no space left") {
		t.Error(e.Message)
	}
}

// A download that fails, or is no bundle, leaves nothing; one that is dropped goes.
func TestFetch(t *testing.T) {
	state := t.TempDir()
	s := NewShelf(Options{StateDir: state})
	left := func() int {
		all, _ := os.ReadDir(filepath.Join(state, "bundles"))
		return len(all)
	}
	writing := func(b []byte, err error) func(context.Context, io.Writer) error {
		return func(_ context.Context, w io.Writer) error {
			_, _ = w.Write(b)
			return err
		}
	}
	if _, err := s.Fetch(t.Context(), writing([]byte("PK"), errors.New("cut"))); err == nil || left() != 0 {
		t.Error(err, left())
	}
	if _, err := s.Fetch(t.Context(), writing([]byte("PK"), nil)); err == nil || left() != 0 {
		t.Error(err, left())
	}
	b, err := s.Fetch(t.Context(), writing(node(t), nil))
	if err != nil || left() != 1 {
		t.Fatal(err, left())
	}
	if _, err := s.Unpack(t.Context(), b); err != nil || left() != 2 {
		t.Error(err, left())
	}
	if s.Drop(b); left() != 1 {
		t.Error(left())
	}
	if _, err := NewShelf(Options{}).Fetch(t.Context(), writing(nil, nil)); err == nil {
		t.Error("without a directory")
	}
}
