package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// prepare makes what the npm packages and the extension are packed from, so that a fresh clone is enough: it installs
// the packages of editors/ if they are missing, and builds the host package and what hosts call of the page from their
// present sources. The page itself is in the repository as it is built.
func (r *release) prepare() {
	editors := filepath.Join(r.root, "editors")
	installed := exists(filepath.Join(editors, "node_modules"))
	built := exists(filepath.Join(editors, "host", "dist", "index.js")) &&
		exists(filepath.Join(editors, "page", "build", "index.js"))
	// a copy of the repository without node_modules: its sources are those that were built
	if !installed && built && !r.vsix {
		return
	}
	if !installed {
		npm(editors, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	}
	npm(editors, "run", "--silent", "build", "-w", "host")
	npm(editors, "run", "--silent", "build:embed", "-w", "page")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	must(err)
	return true
}

// npm runs npm in a folder.
func npm(dir string, args ...string) {
	if _, err := exec.LookPath("npm"); err != nil {
		must(errors.New("there is no npm: the packages for Node and the extension need Node 20 or later with it"))
	}
	cmd := exec.Command("npm", args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		must(fmt.Errorf("npm %s in %s: %w\n%s", args[0], dir, err, text))
	}
}

const (
	scope      = "@mcphub"
	repository = "https://github.com/mcphub-go/mcphub"
)

// binaryName returns the npm package with the program for one machine. The host package uses this name
// (editors/host/src/binary.ts).
func binaryName(t target) string { return fmt.Sprintf("%s/bin-%s", scope, t.name()) }

// tarballName returns the name that npm pack gives to the file of a package.
func tarballName(name, version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version + ".tgz"
}

// binaryPackage writes the npm package of one machine. It runs no script at install.
func (r *release) binaryPackage(t target, files []file) {
	r.npm(binaryName(t), map[string]any{"description": "The program of McpHub for " + t.name(),
		"os": []string{t.platform}, "cpu": []string{t.arch}, "preferUnplugged": true}, files)
}

// hostPackage writes @mcphub/host as it was built, with the .proto files of the contract, and with the packages of the
// program as optional dependencies. The lock file of the workspace does not contain them, since they are published
// together.
func (r *release) hostPackage() {
	programs := map[string]string{}
	for _, t := range targets {
		programs[binaryName(t)] = r.version
	}
	manifest, files := r.workspace("host", "dist", "README.md")
	manifest["optionalDependencies"] = programs
	r.npm(scope+"/host", manifest, append(files, r.contract()...))
}

// pagePackage writes @mcphub/page: the page as it was built, and what hosts call. Its only dependency is the host
// package of the same release, which its user has.
func (r *release) pagePackage() {
	manifest, files := r.workspace("page", "dist", "build", "README.md")
	manifest["peerDependencies"] = map[string]string{scope + "/host": r.version}
	r.npm(scope+"/page", manifest, files)
}

// workspace returns the manifest of a package of editors/, without what only its development needs, and its licence and
// these files and folders of it.
func (r *release) workspace(name string, names ...string) (manifest map[string]any, files []file) {
	home := filepath.Join(r.root, "editors", name)
	text := got(os.ReadFile(filepath.Join(home, "package.json")))
	var kept struct{ Exports json.RawMessage } // unchanged: the order of its conditions matters
	must(json.Unmarshal(text, &kept))
	must(json.Unmarshal(text, &manifest))
	for _, key := range []string{"scripts", "devDependencies", "imports", "private"} {
		delete(manifest, key)
	}
	manifest["exports"] = kept.Exports
	files = []file{r.paper("LICENSE")}
	for _, name := range names {
		more, err := below(home, name)
		if err != nil {
			must(fmt.Errorf("%s is not built: %w", manifest["name"], err))
		}
		files = append(files, more...)
	}
	for i, f := range files {
		if f.name == "README.md" {
			files[i].text = wholeLinks("editors/"+name, f.text)
		}
	}
	return manifest, files
}

// contract returns the .proto files, for hosts in languages for which there is no package.
func (r *release) contract() []file {
	all := got(below(r.root, "proto"))
	return slices.DeleteFunc(all, func(f file) bool { return filepath.Ext(f.name) != ".proto" })
}

// apiPackage writes @mcphub/vscode-api: the types of the API for other VS Code extensions, without code.
func (r *release) apiPackage() {
	name := scope + "/vscode-api"
	api := got(os.ReadFile(filepath.Join(r.root, "editors", "vscode", "api.d.ts")))
	about := "# " + name + "\n\nTypes of what the extension `mcphub.mcphub` of VS Code offers other extensions, and no code.\n" +
		repository + "/blob/main/docs/migrating.md shows how it takes the place of a hub of your own.\n"
	r.npm(name, map[string]any{"description": "Types of the API of McpHub's VS Code extension", "types": "./index.d.ts"},
		[]file{r.paper("LICENSE"), {"README.md", []byte(about), 0o644}, {"index.d.ts", api, 0o644}})
}

// npm writes a package with these files, and with what the manifests of all have.
func (r *release) npm(name string, manifest map[string]any, files []file) {
	manifest["name"], manifest["version"], manifest["license"] = name, r.version, "Apache-2.0"
	manifest["repository"] = map[string]string{"type": "git", "url": "git+" + repository + ".git"}
	text := append(got(json.MarshalIndent(manifest, "", "  ")), '\n')
	r.write(tarballName(name, r.version), tarball("package", append(files, file{"package.json", text, 0o644})))
}

// below returns all files of a folder, or the single file, with their names relative to home.
func below(home, name string) (files []file, err error) {
	err = filepath.WalkDir(filepath.Join(home, name), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		relative := got(filepath.Rel(home, path))
		files = append(files, file{filepath.ToSlash(relative), got(os.ReadFile(path)), 0o644})
		return nil
	})
	return files, err
}
