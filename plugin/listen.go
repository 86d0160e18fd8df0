package plugin

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	goplugin "github.com/hashicorp/go-plugin"
)

// The range of TCP ports that a host allows on Windows, both ends included.
const (
	envMinPort = "PLUGIN_MIN_PORT"
	envMaxPort = "PLUGIN_MAX_PORT"
)

// listen opens what the host connects to, where its variables say: a Unix socket, or a TCP port of this machine on
// Windows, where hosts expect that.
func listen(goos string, getenv func(string) string) (net.Listener, error) {
	if goos == "windows" {
		return listenTCP(getenv)
	}
	return listenUnix(getenv)
}

// listenTCP takes the first free port of the host's range, or any when it names none.
func listenTCP(getenv func(string) string) (net.Listener, error) {
	var ends [2]uint64
	for i, name := range []string{envMinPort, envMaxPort} {
		value := getenv(name)
		if value == "" {
			continue
		}
		n, err := strconv.ParseUint(value, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%s is no port", name)
		}
		ends[i] = n
	}
	if ends[0] > ends[1] {
		return nil, fmt.Errorf("%s is above %s", envMinPort, envMaxPort)
	}
	var last error
	for port := ends[0]; port <= ends[1]; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.FormatUint(port, 10)))
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, last
}

// listenUnix makes a socket that only this user can open, and the host's group if it names one. The listener removes it
// when it is closed.
func listenUnix(getenv func(string) string) (net.Listener, error) {
	dir := getenv(goplugin.EnvUnixSocketDir)
	if dir == "" {
		dir = os.TempDir()
	}
	// Short: the system takes little more than 100 bytes of path.
	path := filepath.Join(dir, "plugin"+rand.Text()[:12])
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := letIn(path, getenv(goplugin.EnvUnixSocketGroup)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// letIn sets who may open a socket. group is a name or a number, or "".
func letIn(path, group string) error {
	if group == "" {
		return os.Chmod(path, 0o600)
	}
	id, err := strconv.Atoi(group)
	if err != nil {
		g, err := user.LookupGroup(group)
		if err != nil {
			return err
		}
		if id, err = strconv.Atoi(g.Gid); err != nil {
			return err
		}
	}
	if err := os.Chown(path, -1, id); err != nil {
		return err
	}
	return os.Chmod(path, 0o660)
}
