//go:build !linux

package transport

import (
	"errors"
	"os/exec"
)

// cgroupTree and cgroup exist on Linux only. Here findCgroupTree and make return nil.
type cgroupTree struct{}

func findCgroupTree() *cgroupTree { return nil }

func (*cgroupTree) make(string) *cgroup { return nil }

type cgroup struct{}

func (*cgroup) path() string { return "" }

func (*cgroup) enter(*exec.Cmd) (leave func(), err error) { return nil, errors.ErrUnsupported }

func (*cgroup) kill() {}

func (*cgroup) remove() {}

func notedCgroup(string, string) *cgroup { return nil }
