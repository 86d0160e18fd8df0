package hub

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/mcphub-go/mcphub/hub/config"
)

// machine is what of this computer and user goes into a config: the same for the hub's whole life.
var machine = sync.OnceValue(func() (m struct{ home, cwd string }) {
	m.home, _ = os.UserHomeDir() // "" leaves the reference unresolved
	m.cwd, _ = os.Getwd()
	return m
})

// variables is what a server's references are resolved with, but for inputs. h.mu is held.
func (h *Hub) variables(conf config.Server) config.Variables {
	return h.variablesAmong(h.sources, conf)
}

// variablesAmong is variables for the folders of these sources.
func (h *Hub) variablesAmong(sources []ConfigSource, conf config.Server) config.Variables {
	v := config.Variables{Getenv: h.getenv, Folders: map[string]string{}, Home: machine().home, Cwd: machine().cwd}
	for _, src := range sources {
		if src.Folder != "" {
			v.Folders[filepath.Base(src.Folder)] = src.Folder
		}
	}
	if f := conf.Origin.Folder; f != "" {
		v.Folders[filepath.Base(f)] = f
	}
	return v
}
