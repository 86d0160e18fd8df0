package hub

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
)

// Whatever the config was and becomes: each server gets one step, a process is touched only when its launch changed or
// its entry went, and a second look at the same config finds nothing to do.
func TestReconcile(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		h := New(Options{})
		var want []config.Server
		for round := range 4 {
			var problems []event.ConfigProblem
			want, problems = anyConfig(rnd)
			have := slices.Clone(h.servers)
			before := map[*server]config.Server{}
			broken := map[*server]bool{}
			for _, s := range have {
				before[s], broken[s] = *s.Conf(), s.Life().Broken()
			}
			steps := reconcile(wants(want), problems, h.servers)
			if !slices.Equal(have, h.servers) {
				t.Fatalf("seed %d: reconcile changed the servers", seed)
			}
			seen := map[string]bool{}
			for _, a := range steps {
				name := a.conf.Name
				if a.have != nil {
					name = a.have.name
				}
				if seen[name] {
					t.Fatalf("seed %d round %d: two steps for %s", seed, round, name)
				}
				seen[name] = true
				i := slices.IndexFunc(want, func(c config.Server) bool { return c.Name == name })
				switch {
				case a.remove:
					if i >= 0 || a.have == nil {
						t.Fatalf("seed %d: %s is removed and wanted", seed, name)
					}
				case i < 0:
					if !a.broken {
						t.Fatalf("seed %d: %s is kept and not wanted", seed, name)
					}
				case a.broken:
					t.Fatalf("seed %d: %s is sound and taken for broken", seed, name)
				case a.have == nil:
					if a.relaunch {
						t.Fatalf("seed %d: %s is new and relaunched", seed, name)
					}
				default:
					if changed := before[a.have].LaunchKey() != a.conf.LaunchKey(); a.relaunch != (changed && !broken[a.have]) {
						t.Fatalf("seed %d: %s relaunch %v, launch changed %v", seed, name, a.relaunch, changed)
					}
				}
			}
			for _, s := range have {
				if !seen[s.name] {
					t.Fatalf("seed %d: %s was forgotten", seed, s.name)
				}
			}
			h.mu.Lock()
			at := place(steps, h.servers, []ConfigSource{{Path: "f"}}, want)
			for _, a := range steps {
				h.carryOut(a)
			}
			h.arrange(at)
			again := reconcile(wants(want), problems, h.servers)
			h.mu.Unlock()
			for _, a := range again {
				if a.have == nil || a.remove || a.relaunch && !a.broken {
					t.Fatalf("seed %d: the same config again: %+v", seed, a)
				}
			}
			if !slices.IsSortedFunc(h.servers, func(a, b *server) int { return strings.Compare(a.name, b.name) }) {
				// as anyConfig lists them, broken ones too
				t.Fatalf("seed %d: the servers are not in config order", seed)
			}
		}
	}
}

// wants makes what reconcile takes of the servers that count.
func wants(confs []config.Server) (list []wanted) {
	for _, c := range confs {
		e := &launch.Entry{Conf: c, Key: c.LaunchKey()}
		list = append(list, wanted{e, launch.Entries{e}})
	}
	return list
}

// anyConfig makes up a config of up to six servers, sound and broken.
func anyConfig(rnd *rand.Rand) (servers []config.Server, problems []event.ConfigProblem) {
	for i := range 6 {
		name := fmt.Sprint("s", i)
		switch rnd.IntN(4) {
		case 0: // not there
		case 1:
			problems = append(problems, event.ConfigProblem{File: "f", Line: i, Server: name, Fatal: true, Message: "broken"})
		default:
			idle := time.Duration(rnd.IntN(3)) * time.Second
			servers = append(servers, config.Server{
				Name: name, Origin: config.Origin{File: "f", Line: i, Scope: "host"}, Command: fmt.Sprint("c", rnd.IntN(2)),
				Disabled: rnd.IntN(4) == 0,
				Timeouts: config.Timeouts{Idle: &idle}, Approvals: map[string]config.Policy{"*": config.Allow},
			})
		}
		if rnd.IntN(5) == 0 {
			problems = append(problems, event.ConfigProblem{File: "f", Server: name, Message: "a warning"})
		}
	}
	rnd.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
	return servers, problems
}
