// Package bareinit hides some of the environment from packages that look at it while they are initialised.
//
// The toolkit under the form of mcphub call does: one of its packages searches PATH for five clipboard programs, which
// under WSL are hundreds of looks at Windows' disk, and another runs "tmux info" when standard output is a terminal
// within tmux. Every start of the program would pay for that, a hub's as well, and nothing of it is used.
//
// Go initialises packages in the order of their import paths, each when its imports are (the language's specification,
// "Program initialization", since 1.21). This one imports os alone, so it comes before os/exec, and so before whoever
// can run or find a program. Package main calls Restore when it is initialised, which is last.
package bareinit

import "os"

var hidden = map[string]string{}

func init() {
	for _, name := range []string{"PATH", "TERM", "TMUX"} {
		if value, ok := os.LookupEnv(name); ok {
			hidden[name] = value
			_ = os.Unsetenv(name)
		}
	}
}

// Restore puts the environment back.
func Restore() {
	for name, value := range hidden {
		_ = os.Setenv(name, value)
	}
	clear(hidden)
}
