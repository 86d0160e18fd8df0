package sources

import (
	"cmp"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Whatever the config was and becomes: each server gets one step, a process is touched only when its launch changed or
// its entry went, and a second look at the same config finds nothing to do.
func TestReconcile(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		h := newHome()
		var want []config.Server
		for round := range 4 {
			var problems []event.ConfigProblem
			want, problems = anyConfig(rnd)
			have := slices.Clone(h.launches)
			before := map[*launch.Launch]config.Server{}
			broken := map[*launch.Launch]bool{}
			for _, l := range have {
				before[l], broken[l] = *l.Server().Conf(), l.Server().Broken()
			}
			steps := reconcile(wants(want), problems, h.launches)
			if !slices.Equal(have, h.launches) {
				t.Fatalf("seed %d: reconcile changed the servers", seed)
			}
			seen := map[string]bool{}
			for _, a := range steps {
				name := a.Conf.Name
				if a.Have != nil {
					name = a.Have.Server().Name()
				}
				if seen[name] {
					t.Fatalf("seed %d round %d: two steps for %s", seed, round, name)
				}
				seen[name] = true
				i := slices.IndexFunc(want, func(c config.Server) bool { return c.Name == name })
				switch {
				case a.Remove:
					if i >= 0 || a.Have == nil {
						t.Fatalf("seed %d: %s is removed and wanted", seed, name)
					}
				case i < 0:
					if !a.Broken {
						t.Fatalf("seed %d: %s is kept and not wanted", seed, name)
					}
				case a.Broken:
					t.Fatalf("seed %d: %s is sound and taken for broken", seed, name)
				case a.Have == nil:
					if a.Relaunch {
						t.Fatalf("seed %d: %s is new and relaunched", seed, name)
					}
				default:
					was := before[a.Have]
					if changed := was.LaunchKey() != a.Conf.LaunchKey(); a.Relaunch != (changed && !broken[a.Have]) {
						t.Fatalf("seed %d: %s relaunch %v, launch changed %v", seed, name, a.Relaunch, changed)
					}
				}
			}
			for _, l := range have {
				if name := l.Server().Name(); !seen[name] {
					t.Fatalf("seed %d: %s was forgotten", seed, name)
				}
			}
			h.carryOut(steps, place(steps, h.launches, []Source{{Path: "f"}}, wants(want)))
			again := reconcile(wants(want), problems, h.launches)
			for _, a := range again {
				if a.Have == nil || a.Remove || a.Relaunch && !a.Broken {
					t.Fatalf("seed %d: the same config again: %+v", seed, a)
				}
			}
			if !slices.IsSortedFunc(h.launches, func(a, b *launch.Launch) int {
				return strings.Compare(a.Server().Name(), b.Server().Name())
			}) {
				// as anyConfig lists them, broken ones too
				t.Fatalf("seed %d: the servers are not in config order", seed)
			}
		}
	}
}

// home is a hub that has servers and does nothing with them.
type home struct {
	servers.House
	servers.Owner
	core     *core.State
	table    *servers.Table
	maker    *launch.Maker
	launches []*launch.Launch
}

func newHome() *home {
	h := &home{core: core.New("home")}
	h.table = servers.NewTable(servers.Options{House: h, Core: h.core, Apply: h.apply,
		Logger: slog.New(slog.DiscardHandler)})
	h.maker = &launch.Maker{House: h}
	return h
}

// apply applies an event, and does nothing of what follows.
func (h *home) apply(e core.Event) { h.core.Apply(time.Now(), e) }

// SeeWithdrawals has nothing to see.
func (h *home) SeeWithdrawals() {}

func (h *home) carryOut(steps []Step, at map[string]int) {
	for _, a := range steps {
		l := a.Have
		switch {
		case l == nil:
			s := h.table.New(a.Life(), servers.Accounts{}, h)
			h.table.Add(s, a.Broken)
			l = h.maker.New(s, nil)
			h.launches = append(h.launches, l)
		case a.Remove:
			h.table.Remove(l.Server(), &event.CancelCause{})
			h.launches = slices.DeleteFunc(h.launches, func(other *launch.Launch) bool { return other == l })
			continue
		default:
			old := *l.Server().Conf()
			l.Server().Reconfigure(a.Life())
			l.Server().Reconsider(a.Broken, &old, a.Relaunch, "changed")
		}
		l.Take(a.Entry, a.Entries, a.Relaunch)
		l.Move(a.Place)
	}
	slices.SortFunc(h.launches, func(a, b *launch.Launch) int {
		return cmp.Compare(at[a.Server().Name()], at[b.Server().Name()])
	})
}

// wants makes what reconcile takes of the servers that count.
func wants(confs []config.Server) (list []wanted) {
	for _, c := range confs {
		e := &launch.Entry{Conf: c, Key: c.LaunchKey()}
		list = append(list, wanted{e, launch.Entries{e}, nil})
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
