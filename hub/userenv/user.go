package userenv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/transport"
)

// DefaultLimit is what the login shell has for its answer.
const DefaultLimit = 5 * time.Second

// House is the hub as far as a User needs it; see servers.House.
type House interface {
	Update(f func())
	Go(f func())
	Draining() bool
}

// Options of a User. House, Life and Logger are needed where Printer is given.
type Options struct {
	Environ []string // the hub's own
	// Printer is the program and its arguments that calls [Print] with the last argument; nil: no shell is asked.
	Printer []string
	// Desktop: the host was started from a desktop, so that the shell's environment is the right one for all servers.
	Desktop     bool
	House       House
	Life        context.Context // of the hub
	Logger      *slog.Logger
	Containment *transport.Containment
	// Answered is told what servers may inherit from now on, without the lock; nil: nobody is.
	Answered func(environ []string)
	Limit    time.Duration // 0: DefaultLimit
	// Root is put before the places that begin at the root of the file system; tests have their own.
	Root string
}

// User is the person whose servers the hub starts. Its methods may be called by several goroutines, without the lock.
type User struct {
	Options
	shell    string
	once     sync.Once
	answered chan struct{}
	// set before answered is closed
	answer []string // the hub's own environment where there is none
	err    error
}

// New makes a User. A shell that all servers wait for is not asked before the first of them needs it.
func New(o Options) *User {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	u := &User{Options: o, answered: make(chan struct{})}
	u.shell = loginShell(func(name string) string { return lookup(o.Environ, name) })
	if len(o.Printer) == 0 || u.shell == "" {
		u.once.Do(func() { u.settle(nil, errors.New("no shell is asked here")) })
	}
	return u
}

// Begin asks the shell, once for the hub's life, and does not wait.
func (u *User) Begin() {
	u.once.Do(func() {
		begun := false
		u.House.Update(func() {
			if !u.House.Draining() {
				u.House.Go(u.run)
				begun = true
			}
		})
		if !begun {
			u.settle(nil, errors.New("the hub is shutting down"))
		}
	})
}

func (u *User) run() {
	ctx, cancel := context.WithTimeoutCause(u.Life, u.Limit, fmt.Errorf("it did not answer within %s", u.Limit))
	defer cancel()
	began := time.Now()
	environ, err := u.ask(ctx, u.shell)
	if err != nil {
		u.Logger.Warn("the login shell did not tell its environment", "shell", u.shell, "error", err)
	} else {
		u.Logger.Debug("the login shell told its environment", "shell", u.shell, "took", time.Since(began))
	}
	u.settle(environ, err)
	if err == nil && u.Answered != nil {
		u.Answered(u.answer)
	}
}

// settle keeps the answer.
func (u *User) settle(environ []string, err error) {
	if u.answer, u.err = u.Environ, err; err == nil {
		u.answer = merged(u.Environ, environ)
	}
	close(u.answered)
}

// wait asks the shell and waits for its answer, at most for its time.
func (u *User) wait(ctx context.Context) {
	u.Begin()
	select {
	case <-u.answered:
	case <-ctx.Done():
	}
}

// known tells whether the shell has answered, or will not.
func (u *User) known() bool {
	select {
	case <-u.answered:
		return true
	default:
		return false
	}
}

// Base is the environment that servers inherit from, and that references are resolved with: the hub's own, or the login
// shell's where the host was started from a desktop. The shell's answer is waited for within ctx; if that is over, it
// is what is known now, and Answered tells when there is more.
func (u *User) Base(ctx context.Context) []string {
	if !u.Desktop {
		return u.Environ
	}
	if u.wait(ctx); u.known() {
		return u.answer
	}
	return u.Environ
}

// merged is the shell's environment with what only the hub has. What a shell sets about itself is left out, and folders
// of the hub's PATH that the shell's has not come last in it.
func merged(own, shell []string) []string {
	all := map[string]string{}
	for _, kv := range own {
		name, value, _ := strings.Cut(kv, "=")
		all[name] = value
	}
	path := all["PATH"]
	for _, kv := range shell {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || ofHub(name) || name == "PATH" && value == "" ||
			slices.Contains([]string{"TERM", "SHLVL", "PWD", "OLDPWD", "_"}, name) {
			continue
		}
		all[name] = value
	}
	all["PATH"] = joined(all["PATH"], path)
	var out []string
	for name, value := range all {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

func lookup(environ []string, name string) string {
	for _, kv := range slices.Backward(environ) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}
