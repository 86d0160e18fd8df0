package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync/atomic"
)

// envProfile names a folder for profiles. The hubs in this program write their profiles there as well.
const envProfile = "MCPHUB_BENCH_PROFILE"

// realHub returns the command of the hub that is measured from outside. With profiles it is this program, since mcphub
// writes none.
func (o options) realHub() (command string, args []string) {
	if os.Getenv(envProfile) != "" {
		return o.bin.self, []string{probedHub}
	}
	return o.bin.mcphub, nil
}

// profiled runs f with a CPU profile of this process and then writes the profile of its allocations, if the user wants
// profiles. name is a file name.
func profiled(name string, f func()) {
	dir := os.Getenv(envProfile)
	if dir == "" {
		f()
		return
	}
	file, err := os.Create(filepath.Join(dir, name+".cpu"))
	if err == nil {
		defer file.Close()
		err = pprof.StartCPUProfile(file)
		defer pprof.StopCPUProfile()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: no profile:", err)
	}
	f()
	if allocs, err := os.Create(filepath.Join(dir, name+".allocs")); err == nil {
		defer allocs.Close()
		_ = pprof.Lookup("allocs").WriteTo(allocs, 0) // a failed profile does not fail the run
	}
}

var looks atomic.Int64

// profileHeap writes a profile of the live objects, if the user wants profiles.
func profileHeap() {
	dir := os.Getenv(envProfile)
	if dir == "" {
		return
	}
	file, err := os.Create(filepath.Join(dir, fmt.Sprintf("hub-%d-%d.heap", os.Getpid(), looks.Add(1))))
	if err != nil {
		return
	}
	defer file.Close()
	_ = pprof.WriteHeapProfile(file) // a failed profile does not fail the run
}
