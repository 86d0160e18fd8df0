package transport

import "path/filepath"

// Program is the file that a [Command] runs.
type Program struct {
	// Path is absolute: what is executed.
	Path string
	// Target is the file behind Path without any link in it; the same as Path where there is none.
	Target string
}

// Find tells what Start would run now for this command. It looks where the child's start looks: in the PATH of Env, or
// from Dir on. An error is a *StartError. To run just that later, set Command.Program.
func Find(c Command) (Program, error) {
	path, err := resolve(c)
	if err != nil {
		return Program{}, err
	}
	if path, err = fullName(path); err != nil {
		return Program{}, explainStart(c, path, err)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Program{}, explainStart(c, path, err)
	}
	return Program{Path: path, Target: target}, nil
}
