package process

import "path/filepath"

// Program is the file that a [Command] runs.
type Program struct {
	// Path is the absolute path of the file that is executed.
	Path string
	// Target is Path with all symbolic links followed. It equals Path if there are none.
	Target string
}

// Find returns the program that Start would run for this command now. It looks where Start looks: in the PATH of c.Env,
// or relative to c.Dir. Its error is a *StartError. To run exactly that program later, set Command.Program.
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
