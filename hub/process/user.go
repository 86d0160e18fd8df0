package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// defaultLimit is how long the login shell may take for its answer.
const defaultLimit = 5 * time.Second

// userHub has the methods of the hub that a User needs.
type userHub interface {
	Update(f func()) // runs f with the lock
	Go(f func())     // runs f on a goroutine that the hub waits for when it is closed
	Draining() bool  // reports whether nothing may start any more; called with the lock
}

// UserOptions are the options of a User. Hub, Life and Logger are required if Printer is set.
type UserOptions struct {
	Environ []string // of the hub
	// Printer is a program and its arguments. It calls [PrintEnvironment], with its last argument as the mark. If it is
	// nil, no shell is asked.
	Printer []string
	// Desktop says that the host was started from a desktop, so that all servers get the shell's environment.
	Desktop     bool
	Hub         userHub
	Life        context.Context // of the hub
	Logger      *slog.Logger
	Containment *Containment
	// Answered is called, without the lock, with the environment that servers may inherit from now on. It may be nil.
	Answered func(environ []string)
	Limit    time.Duration // 0 means defaultLimit
	// Root is the root of the file system for the places that begin there; tests set it.
	Root string
}

// User is the person whose servers the hub starts. Its methods may be called concurrently, without the lock.
type User struct {
	UserOptions
	shell    string
	once     sync.Once
	answered chan struct{}
	// set before answered is closed
	answer []string // the hub's own environment if the shell gave none
	err    error
}

// NewUser returns a User. The shell is not asked before it is needed for the first time.
func NewUser(o UserOptions) *User {
	if o.Limit == 0 {
		o.Limit = defaultLimit
	}
	u := &User{UserOptions: o, answered: make(chan struct{})}
	u.shell = loginShell(func(name string) string { return lookup(o.Environ, name) })
	if len(o.Printer) == 0 || u.shell == "" {
		u.once.Do(func() { u.settle(nil, errors.New("no shell is asked here")) })
	}
	return u
}

// Begin asks the shell, once in the hub's life, and does not wait.
func (u *User) Begin() {
	u.once.Do(func() {
		begun := false
		u.Hub.Update(func() {
			if !u.Hub.Draining() {
				u.Hub.Go(u.run)
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

// settle stores the answer.
func (u *User) settle(environ []string, err error) {
	if u.answer, u.err = u.Environ, err; err == nil {
		u.answer = merged(u.Environ, environ)
	}
	close(u.answered)
}

// wait asks the shell, and waits for its answer until ctx ends. The time of the shell is bounded, too.
func (u *User) wait(ctx context.Context) {
	u.Begin()
	select {
	case <-u.answered:
	case <-ctx.Done():
	}
}

// known reports whether the shell has answered, or will not answer.
func (u *User) known() bool {
	select {
	case <-u.answered:
		return true
	default:
		return false
	}
}

// Base returns the environment that servers inherit from, and with which references are resolved: that of the hub, or
// that of the login shell if the host was started from a desktop. It waits for the shell's answer within ctx. If ctx
// has ended, it returns what is known, and Answered is called when there is more.
func (u *User) Base(ctx context.Context) []string {
	if !u.Desktop {
		return u.Environ
	}
	if u.wait(ctx); u.known() {
		return u.answer
	}
	return u.Environ
}

// merged returns the shell's environment, and the variables that only the hub has. It leaves out what a shell sets
// about itself. Folders that only the hub's PATH has come last in PATH.
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
