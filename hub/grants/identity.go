package grants

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/process"
)

// refusalNow returns which rule refuses an entry, by a look that does not wait for the login shell.
func (m *Resolver) refusalNow(conf config.Server) *event.LaunchRefusal {
	if m.Refuses == nil {
		return nil
	}
	return m.Refuses(func() *event.LaunchIdentity { return m.Identity(now(), conf) })
}

// Identity returns what an entry launches, as far as that is known without asking a person for its inputs: references
// to those stay as they are spelled. If the entry cannot be resolved, all do. It may wait for the login shell, within
// ctx, and reads files, so it is called without the lock.
func (m *Resolver) Identity(ctx context.Context, conf config.Server) *event.LaunchIdentity {
	v := m.variables(ctx, conf)
	v.Input = func(id string) (string, bool) { return "${input:" + id + "}", true }
	r, err := conf.Resolve(v)
	if err != nil {
		r = config.Resolved{Server: conf}
		r.Env = map[string]*string{}
		for name := range conf.EnvRefs {
			r.Env[name] = new(string)
		}
		maps.Copy(r.Env, conf.Env)
		if conf.EnvFile != "" {
			r.Env["PATH"] = new(string) // it may set anything
		}
	}
	var p process.Program
	if conf.URL == "" {
		p = m.User.Find(ctx, process.Wanted{Command: r.Command, Dir: r.Dir, Env: r.Env, Heir: process.Own}).Program
	}
	return m.IdentityOf(r, p)
}

// IdentityOf returns the identity of what is launched: a resolved entry, and the program that was found for it.
func (m *Resolver) IdentityOf(r config.Resolved, p process.Program) *event.LaunchIdentity {
	id := &event.LaunchIdentity{Command: r.Command, Args: slices.Clone(r.Args), Program: p.Path, Target: p.Target,
		URL: r.URL, Host: r.Origin.Scope == "host" && r.Origin.Writer == config.Writer{}}
	if r.URL != "" {
		return id
	}
	if strings.Contains(r.Dir, "node_modules") || strings.Contains(r.Dir, "site-packages") {
		id.Around = append(id.Around, r.Dir) // where a package lies; any other folder may be called like one
	}
	for name, value := range r.Env {
		if value == nil {
			continue
		}
		id.Around = append(id.Around, *value)
		if misleads(name) {
			id.Loading = append(id.Loading, name)
		}
	}
	slices.Sort(id.Loading)
	for _, word := range r.Args {
		if name, _, _ := strings.Cut(word, "="); misleads(name) {
			id.LoadingArgs = append(id.LoadingArgs, word)
		}
	}
	id.Nearby = m.nearby(r, p)
	return id
}

// misleads reports whether a variable may make a known program run something else than its arguments say: code that it
// loads, another registry or daemon, or somebody on the way there.
func misleads(name string) bool {
	upper := strings.ToUpper(name)
	return config.LoadsCode(name) || config.LoadsCode(upper) || strings.HasSuffix(upper, "_PROXY") ||
		strings.Contains(upper, "CERT") || strings.Contains(upper, "CA_BUNDLE") ||
		slices.ContainsFunc([]string{"SSL_", "NPM_", "DOCKER_", "CONTAINER", "PODMAN_", "REGISTR"}, func(prefix string) bool {
			return strings.HasPrefix(upper, prefix)
		})
}

// nearby returns what lies where a server runs and may take the place of its program, or of the package that the
// program runs. "" = nothing.
func (m *Resolver) nearby(r config.Resolved, p process.Program) string {
	folders := []string{r.Origin.Folder}
	if open := m.folders.Load(); open != nil {
		folders = append(folders, *open...)
	}
	for _, folder := range folders {
		if folder != "" && (within(folder, p.Path) || within(folder, p.Target)) {
			return fmt.Sprintf("its program is %s, of a folder that is open", p.Path)
		}
	}
	if r.Command != "npx" && r.Command != "bunx" {
		return ""
	}
	var name string
	for _, word := range r.Args {
		if !strings.HasPrefix(word, "-") {
			n := min(1, len(word))
			name, _, _ = strings.Cut(word[n:], "@")
			name = word[:n] + name
			break
		}
	}
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return "it is not known where it runs"
	}
	for home := machine().home; ; dir = filepath.Dir(dir) {
		for _, file := range []string{".npmrc", "bunfig.toml", filepath.Join("node_modules", filepath.FromSlash(name)),
			filepath.Join("node_modules", ".bin", filepath.Base(filepath.FromSlash(name))), "package.json"} {
			path := filepath.Join(dir, file)
			if file == ".npmrc" && dir == home { // it is the user's, wherever npx runs
				continue
			}
			if file == "package.json" { // npx runs what it calls a program
				text, _ := config.ReadFile(path, "workspace")
				if !bytes.Contains(text, []byte(`"bin"`)) {
					continue
				}
			} else if _, err := os.Lstat(path); err != nil {
				continue
			}
			return fmt.Sprintf("%s may change what it runs there", path)
		}
		if dir == home || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return path != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
