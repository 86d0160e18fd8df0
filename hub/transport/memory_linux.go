package transport

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// footprints measures all of ps in one pass over /proc. It returns nil if /proc cannot be read.
func footprints(ps []*Process) []footprint {
	var (
		page     = int64(os.Getpagesize())
		pids     = make([][]procStat, len(ps))
		byGroup  = make(map[int]int, len(ps))
		outside  []procStat
		earliest = ^uint64(0)
	)
	for i, p := range ps {
		byGroup[p.group.id] = i
		if p.group.needle != "" {
			earliest = min(earliest, p.group.start)
		}
	}
	err := eachProcess(func(s procStat) {
		if i, ok := byGroup[s.pgrp]; ok {
			pids[i] = append(pids[i], s)
		} else if s.start >= earliest && s.living() && !s.kernel {
			outside = append(outside, s)
		}
	})
	if err != nil {
		return nil
	}
	for _, s := range outside {
		// Most of these processes belong to no server. strayOf finds that out with one read.
		if i, ok := strayOf(s.pid, ps); ok {
			pids[i] = append(pids[i], s)
		}
	}
	out := make([]footprint, len(ps))
	for i, members := range pids {
		for _, s := range members {
			out[i].resident += s.rss * page
		}
		out[i].proportional = func() (sum int64) {
			for _, s := range members {
				sum += proportional(s.pid, s.rss*page)
			}
			return sum
		}
	}
	return out
}

// strayOf returns the index of the server whose marker a process carries. All of ps must be of one hub.
func strayOf(pid int, ps []*Process) (int, bool) {
	all := ""
	for _, p := range ps {
		if n := p.group.needle; n != "" {
			all = n[:strings.LastIndexByte(n, '/')+1]
			break
		}
	}
	if yes, _, _ := environHolds(pid, all); !yes || all == "" {
		return 0, false
	}
	for i, p := range ps {
		if p.group.needle == "" {
			continue
		}
		if yes, _, _ := environHolds(pid, p.group.needle); yes {
			return i, true
		}
	}
	return 0, false
}

// proportional returns the Pss of a process in bytes, from /proc/N/smaps_rollup (proc(5), since Linux 4.14). It returns
// resident if that cannot be read.
func proportional(pid int, resident int64) int64 {
	raw, err := os.ReadFile(procPath(pid, "smaps_rollup"))
	if err != nil {
		return resident
	}
	_, rest, ok := bytes.Cut(raw, []byte("\nPss:"))
	fields := bytes.Fields(rest)
	if !ok || len(fields) == 0 {
		return resident
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return resident
	}
	return kib << 10
}
