package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Source is one place to read servers from.
type Source struct {
	// Path is the file to read when JSON is nil; else only the name that
	// problems and origins show, and may be empty.
	Path string
	// JSON is the text itself.
	JSON []byte
	// Scope says whose it is: "user", "workspace" or "host". Empty means "host".
	Scope string
}

// Origin is where an entry was found.
type Origin struct {
	File    string
	Line    int    // of the server's name, from 1
	Dialect string // "mcpServers" or "vscode"
	Scope   string // as in Source
}

// Server is one configured server in normal form.
type Server struct {
	Name   string
	Origin Origin

	// Transport is TransportStdio, TransportHTTP, TransportSSE or TransportAuto. "" is TransportStdio.
	Transport string

	// For a stdio server:

	Command string
	Args    []string
	// Env goes on top of what the server inherits; nil removes a variable.
	Env map[string]*string
	// Dir is the working directory as written; empty leaves it to the hub.
	Dir string

	// For a server behind a URL:

	// URL is absolute, http or https, without user information and fragment. Its query may be secret: show DisplayURL.
	URL string
	// Header goes out with each request; names are canonical, values may be secret.
	Header map[string]string
	OAuth  OAuth

	Disabled bool
	Timeouts Timeouts
	// Approvals maps tool names and patterns (see Match) to policies; read it
	// through Policy.
	Approvals map[string]Policy
	// Era is "auto", "legacy" or "modern".
	Era   string
	Grace Grace
	// MaxMessageBytes caps one message from the server; 0 means the hub's default.
	MaxMessageBytes int
}

// Timeouts are the clocks of a server. nil means the hub's default, 0 no limit.
type Timeouts struct {
	Connect *time.Duration // from the start of the process to the end of the handshake
	Idle    *time.Duration // without progress
	Total   *time.Duration // one call, human time not counted
	Human   *time.Duration // one question to the user
}

// Grace is how long each stage of stopping the server waits. 0 means the
// default, a negative value (written as 0 in the file) no wait.
type Grace struct {
	Stdin     time.Duration // after its stdin is closed
	Terminate time.Duration // after SIGTERM
	Kill      time.Duration // after SIGKILL
}

// LaunchKey identifies what is run: two servers with the same key need no restart
// to become one another. Command, arguments, environment, directory, transport,
// URL, headers, sign-in, era and message cap change it; name, origin, approvals,
// timeouts, graces and disabled do not. It is made from values that may be
// secret: compare it, do not log it.
func (s Server) LaunchKey() string {
	h := sha256.New()
	text(h, "mcphub launch 1")
	text(h, s.Command)
	text(h, strconv.Itoa(len(s.Args)))
	for _, arg := range s.Args {
		text(h, arg)
	}
	text(h, strconv.Itoa(len(s.Env)))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		text(h, name)
		if value := s.Env[name]; value == nil {
			text(h, "unset")
		} else {
			text(h, "set")
			text(h, *value)
		}
	}
	text(h, s.Dir)
	text(h, cmp.Or(s.Era, "auto"))
	text(h, strconv.Itoa(s.MaxMessageBytes))
	if transport := cmp.Or(s.Transport, TransportStdio); transport != TransportStdio {
		text(h, transport)
		text(h, s.URL)
		text(h, strconv.Itoa(len(s.Header)))
		for _, name := range slices.Sorted(maps.Keys(s.Header)) {
			text(h, name)
			text(h, s.Header[name])
		}
		s.OAuth.write(h)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// text writes with its length, so that no two lists of strings look the same.
func text(h hash.Hash, s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
