package config

// Variables is what references are resolved with.
type Variables struct {
	// Getenv looks a name up in the environment that the host gave the hub.
	Getenv func(name string) (value string, ok bool)
	// Folders are the workspace folders by name; ${workspaceFolder} without a name is that of the source, else the only one there is.
	Folders map[string]string
	Home    string // ${userHome}
	Cwd     string // ${cwd}
	// Input gives the value of an input; ok is false when there is none, which fails the server.
	Input func(id string) (value string, ok bool)
	// ReadFile reads an envFile; nil: os.ReadFile.
	ReadFile func(path string) ([]byte, error)
}

// Resolved is a server that can be started: no reference is left in it, but for those that its dialect leaves as they are.
type Resolved struct {
	Server
	// Secrets are values that must not be shown: of secret inputs, of the environment, of envFile, of headers and of sign-ins. Longest first, none empty.
	Secrets []string
	// Warnings are for people: references that could not be resolved and stay as they are. They hold no values.
	Warnings []string
}
