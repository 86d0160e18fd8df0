package hub_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/sources"
)

// configFiles are the config files of a conversation, and where they are on this machine.
type configFiles struct {
	dir   string // /repos/site is its folder site, and so on
	texts map[string]hub.ConfigSource
	wrong []string // problems of the config that were told
	undos []string // ids of the writes of a program
}

// keepFiles has the entries come from config files.
func (s *stage) keepFiles(text string) {
	dir, err := filepath.EvalSymlinks(s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}
	s.files = &configFiles{dir: dir, texts: map[string]hub.ConfigSource{}}
	s.options.Environ = []string{"HOME=/config", "PATH=/usr/bin:/bin"}
	if lasting.MatchString(text) {
		s.options.StateDir = s.t.TempDir()
	}
}

// environment sets variables of the hub's environment.
func (s *stage) environment(variables []string) {
	for _, word := range variables {
		name, _, _ := strings.Cut(word, "=")
		s.options.Environ = slices.DeleteFunc(s.options.Environ, func(one string) bool {
			return strings.HasPrefix(one, name+"=")
		})
	}
	s.options.Environ = append(s.options.Environ, variables...)
}

// make makes a file below /repos/site: "write" a program, or "link" another one.
func (s *stage) make(how, name, text string) {
	path := filepath.Join(s.files.dir, "repos/site", name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if how == "link" {
		_ = os.Remove(path)
		err = errors.Join(err, os.Symlink(filepath.Join(s.files.dir, "repos/site", text), path))
	} else {
		text = strings.ReplaceAll(s.outside(text), `\n`, "\n")
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o700))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// fileScopes are the config files, with their scopes.
var fileScopes = map[string]string{"user": "user", "folder": "workspace", "lib": "workspace", "host": "host",
	"trusted": "workspace", "plain": ""}

var fileOrder = []string{"host", "user", "plain", "trusted", "folder", "lib"}

// write makes text the text of a config file, and has all read again.
func (s *stage) write(name, text string) {
	if text = s.outside(text); name == "disk" {
		path := filepath.Join(s.files.dir, "config", "mcp.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			s.t.Fatal(err)
		}
		s.files.texts["user"] = hub.ConfigSource{Path: path, Scope: "user"}
		s.load()
		return
	}
	if words := strings.Fields(text); !strings.HasPrefix(text, "{") && text != "gone" {
		entry := after(text, 1)
		if !strings.Contains(entry, `"command"`) && !strings.Contains(entry, `"url"`) {
			entry = strings.TrimSuffix(`{"command":"s",`+entry[1:len(entry)-1], ",") + "}"
		}
		text = fmt.Sprintf(`{"servers":{%q:%s}}`, words[0], entry)
	}
	src := hub.ConfigSource{Path: s.outside("/config/mcp.json"), Scope: fileScopes[name], JSON: text}
	switch name {
	case "folder", "trusted", "plain":
		src.Path, src.Folder = s.outside("/repos/site/.vscode/mcp.json"), s.outside("/repos/site")
	case "lib":
		src.Path, src.Folder = s.outside("/repos/lib/.vscode/mcp.json"), s.outside("/repos/lib")
	case "host":
		src.Path = "host.json"
	}
	src.Trusted = name == "trusted"
	if s.files.texts[name] = src; text == "gone" {
		delete(s.files.texts, name)
	}
	s.load()
}

// load has all config files read.
func (s *stage) load() {
	var all []hub.ConfigSource
	for _, name := range fileOrder {
		if src, is := s.files.texts[name]; is {
			all = append(all, src)
		}
	}
	if all == nil {
		all = []hub.ConfigSource{{Path: "host.json", Scope: "host", JSON: `{"servers":{}}`}}
	}
	s.ordered("config", func() (string, error) {
		_, problems, stopped, err := s.hub.LoadConfig(forGood, all)
		var said []string
		if slices.Sort(stopped); len(stopped) > 0 {
			said = append(said, "stopped "+strings.Join(stopped, ", "))
		}
		before := s.files.wrong
		s.files.wrong = nil
		for _, p := range problems {
			if s.files.wrong = append(s.files.wrong, p.String()); !slices.Contains(before, p.String()) {
				said = append(said, p.String())
			}
		}
		return strings.Join(said, "; "), err
	})
}

// program has the hub write as an extension does, and says what the file is then.
func (s *stage) program(verb, text string) {
	files, out := s.hub.Config(), sources.Written{}
	server, text, _ := strings.Cut(text, " ")
	to := sources.Target{Server: server, By: someProgram}
	var err error
	switch verb {
	case "adds":
		out, err = files.AddServer(forGood, to, edit.Form{JSON: text}, edit.Settings{})
	case "changes":
		out, err = files.UpdateServer(forGood, to, edit.Update{Patch: text})
	case "removes":
		out, err = files.RemoveServer(forGood, to)
	case "undoes":
		id := ""
		if server != "" {
			id = s.files.undos[s.number(server)-1]
		}
		out, err = files.Undo(forGood, id, someProgram)
	}
	if s.trouble("program", err); err != nil {
		return
	}
	s.files.undos = append(s.files.undos, out.UndoID)
	now, err := os.ReadFile(out.File)
	s.trouble("program", err)
	line := fmt.Sprintf("program: write %d: %s", len(s.files.undos), strings.ReplaceAll(string(now), "\n", `\n`))
	if out.MustAsk {
		line += ", which must be asked about"
	}
	s.say("%s", line)
}

// outside makes the folders and hosts of a conversation those of the machine.
func (s *stage) outside(text string) string {
	if s.files == nil {
		return text
	}
	root := filepath.ToSlash(s.files.dir)
	for _, folder := range []string{"/repos/site", "/repos/lib", "/config/"} {
		text = strings.ReplaceAll(text, folder, root+folder)
	}
	if s.web != nil {
		for name, at := range s.web.sites {
			text = strings.ReplaceAll(text, name+".test", at.host)
		}
	}
	return text
}

var onThisMachine = regexp.MustCompile(`[\\/]+(repos|config)[^ "':;,]*`)

// inside is the way back.
func (s *stage) inside(text string) string {
	if s.files == nil {
		return text
	}
	dir := s.files.dir
	for _, dir := range []string{dir, filepath.ToSlash(dir), strings.ReplaceAll(dir, `\`, `\\`)} {
		text = strings.ReplaceAll(text, dir, "")
	}
	text = onThisMachine.ReplaceAllStringFunc(text, func(path string) string { // on Windows
		return strings.ReplaceAll(strings.ReplaceAll(path, `\\`, "/"), `\`, "/")
	})
	if s.web != nil {
		for name, at := range s.web.sites {
			text = strings.ReplaceAll(text, at.host, name+".test")
		}
	}
	return text
}
