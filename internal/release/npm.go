package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// prepare makes what the npm packages and the extension are packed from, so that a fresh clone is enough: it installs
// the packages of editors/ if they are missing, and builds the host package from its present sources.
func (r *release) prepare() error {
	editors := filepath.Join(r.root, "editors")
	installed, err := exists(filepath.Join(editors, "node_modules"))
	if err != nil {
		return err
	}
	built, err := exists(filepath.Join(editors, "host", "dist", "index.js"))
	if err != nil {
		return err
	}
	// a copy of the repository without node_modules: its sources are those that were built
	if !installed && built && !r.vsix {
		return nil
	}
	if !installed {
		if err := npm(editors, "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
			return err
		}
	}
	return npm(editors, "run", "--silent", "build", "-w", "host")
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// npm runs npm in a folder.
func npm(dir string, args ...string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("there is no npm: the packages for Node and the extension need Node 20 or later with it")
	}
	cmd := exec.Command("npm", args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm %s in %s: %w\n%s", args[0], dir, err, text)
	}
	return nil
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
func (r *release) binaryPackage(t target, files []file) error {
	manifest, err := json.MarshalIndent(map[string]any{
		"name": binaryName(t), "version": r.version, "license": "Apache-2.0",
		"description": "The program of McpHub for " + t.name(),
		"repository":  map[string]string{"type": "git", "url": "git+" + repository + ".git"},
		"os":          []string{t.platform}, "cpu": []string{t.arch}, "preferUnplugged": true,
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.npm(binaryName(t), append(files, file{"package.json", append(manifest, '\n'), 0o644}))
}

// hostPackage writes @mcphub/host as it was built, with the packages of the program as optional dependencies. The lock
// file of the workspace does not contain them, since they are published together.
func (r *release) hostPackage() error {
	home := filepath.Join(r.root, "editors", "host")
	text, err := os.ReadFile(filepath.Join(home, "package.json"))
	if err != nil {
		return err
	}
	var kept struct{ Exports json.RawMessage } // unchanged: the order of its conditions matters
	if err := json.Unmarshal(text, &kept); err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	delete(manifest, "scripts")
	manifest["version"], manifest["exports"] = r.version, kept.Exports
	manifest["repository"] = map[string]string{"type": "git", "url": "git+" + repository + ".git"}
	programs := map[string]string{}
	for _, t := range targets {
		programs[binaryName(t)] = r.version
	}
	manifest["optionalDependencies"] = programs
	if text, err = json.MarshalIndent(manifest, "", "  "); err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	files := []file{{"package.json", append(text, '\n'), 0o644}, {"LICENSE", license, 0o644}}
	for _, name := range []string{"dist", "README.md"} {
		more, err := below(home, name)
		if err != nil {
			return fmt.Errorf("%s/host is not built: %w", scope, err)
		}
		files = append(files, more...)
	}
	return r.npm(scope+"/host", files)
}

// apiPackage writes @mcphub/vscode-api: the types of the API for other VS Code extensions, without code.
func (r *release) apiPackage() error {
	name := scope + "/vscode-api"
	api, err := os.ReadFile(filepath.Join(r.root, "editors", "vscode", "api.d.ts"))
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	manifest, err := json.MarshalIndent(map[string]any{
		"name": name, "version": r.version, "license": "Apache-2.0", "types": "./index.d.ts",
		"description": "Types of the API of McpHub's VS Code extension",
		"repository":  map[string]string{"type": "git", "url": "git+" + repository + ".git"},
	}, "", "  ")
	if err != nil {
		return err
	}
	about := "# " + name + "\n\nTypes of what the extension `mcphub.mcphub` of VS Code offers other extensions, and no code.\n" +
		repository + "/blob/main/docs/migrating.md shows how it takes the place of a hub of your own.\n"
	return r.npm(name, []file{{"package.json", append(manifest, '\n'), 0o644}, {"LICENSE", license, 0o644},
		{"README.md", []byte(about), 0o644}, {"index.d.ts", api, 0o644}})
}

func (r *release) npm(name string, files []file) error {
	text, err := tarball("package", files)
	if err != nil {
		return err
	}
	return r.write(tarballName(name, r.version), text)
}

// below returns all files of a folder, or the single file, with their names relative to home.
func below(home, name string) (files []file, err error) {
	err = filepath.WalkDir(filepath.Join(home, name), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(home, path)
		files = append(files, file{filepath.ToSlash(relative), text, 0o644})
		return err
	})
	return files, err
}
