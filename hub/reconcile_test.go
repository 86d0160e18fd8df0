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
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/sources"
)

// Whatever the config was and becomes: each server gets one step, a process is touched only when its launch changed or
// its entry went, and a second look at the same config finds nothing to do.
func TestReconcile_long(t *testing.T) {
	t.Parallel()
	seeds := uint64(500)
	if testing.Short() {
		seeds = 150
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 1))
		h := New(Options{Environ: []string{}})
		for round := range 4 {
			want, problems := anyConfig(rnd)
			h.update(func(st *state) { reconcileOnce(t, fmt.Sprintf("seed %d round %d", seed, round), st, want, problems) })
		}
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// reconcileOnce makes a config the hub's, and checks each step of that.
func reconcileOnce(t *testing.T, when string, st *state, want []config.Server, problems []event.ConfigProblem) {
	have := slices.Clone(st.servers)
	before := map[*server]config.Server{}
	broken := map[*server]bool{}
	for _, s := range have {
		before[s], broken[s] = s.conf, s.broken()
	}
	steps := reconcile(wants(want), problems, st.servers)
	if !slices.Equal(have, st.servers) {
		t.Fatalf("%s: reconcile changed the servers", when)
	}
	seen := map[string]bool{}
	for _, a := range steps {
		name := a.conf.Name
		if a.have != nil {
			name = a.have.name
		}
		if seen[name] {
			t.Fatalf("%s: two steps for %s", when, name)
		}
		seen[name] = true
		i := slices.IndexFunc(want, func(c config.Server) bool { return c.Name == name })
		switch {
		case a.remove:
			if i >= 0 || a.have == nil {
				t.Fatalf("%s: %s is removed and wanted", when, name)
			}
		case i < 0:
			if !a.broken {
				t.Fatalf("%s: %s is kept and not wanted", when, name)
			}
		case a.broken:
			t.Fatalf("%s: %s is sound and taken for broken", when, name)
		case a.have == nil:
			if a.relaunch {
				t.Fatalf("%s: %s is new and relaunched", when, name)
			}
		default:
			was := before[a.have]
			if changed := was.LaunchKey() != a.conf.LaunchKey(); a.relaunch != (changed && !broken[a.have]) {
				t.Fatalf("%s: %s relaunch %v, launch changed %v", when, name, a.relaunch, changed)
			}
		}
	}
	for _, s := range have {
		if !seen[s.name] {
			t.Fatalf("%s: %s was forgotten", when, s.name)
		}
	}
	at := place(steps, st.servers, []sources.Source{{Path: "f"}}, wants(want))
	for _, a := range steps {
		st.carryOutStep(a)
	}
	st.arrange(at)
	for _, a := range reconcile(wants(want), problems, st.servers) {
		if a.have == nil || a.remove || a.relaunch && !a.broken {
			t.Fatalf("%s: the same config again: %+v", when, a)
		}
	}
	if !slices.IsSortedFunc(st.servers, func(a, b *server) int { return strings.Compare(a.name, b.name) }) {
		// as anyConfig lists them, broken ones too
		t.Fatalf("%s: the servers are not in config order", when)
	}
}

// wants makes what reconcile takes of the servers that count.
func wants(confs []config.Server) (list []wantedEntry) {
	for _, c := range confs {
		e := &grants.Entry{Conf: c, Key: c.LaunchKey()}
		list = append(list, wantedEntry{e, grants.Entries{e}, nil})
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
