package hub_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Four servers of one file need the same two inputs, while windows come and go, calls are cancelled, servers stopped
// and entries changed. Each call ends, no prompt closes twice, and nothing is left over.
func TestManyStartsShareTheirQuestions_long(t *testing.T) {
	t.Parallel()
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 11))
			names := []string{"a", "b", "c", "d"}
			servers := map[string]*fakeserver.Server{}
			for _, name := range names {
				servers[name] = hanging()
			}
			w := newWorldWith(t, hub.Options{}, servers)
			load := func(version int) {
				members := ""
				for i, name := range names {
					if i > 0 {
						members += ","
					}
					members += fmt.Sprintf(`%q:{"command":%q,"args":["%d"],%s,"env":{"R":"${input:region}","K":"${input:key}"}}`, name,
						name, version*(i%2), allow)
				}
				w.source(hub.ConfigSource{Path: userFile, Scope: []string{"workspace", "user"}[version%2], JSON: `{"servers":{` +
					members + `}}`})
				w.hub.EditConfs(func(c *config.Server) { c.Inputs = userInputs })
			}
			load(0)
			witness := w.everything()
			views := []*view{w.user("one"), w.user("two")}
			var calls []*pendingCall
			for step := range 60 {
				var act sync.WaitGroup
				for range 1 + rnd.IntN(2) {
					name, n := names[rnd.IntN(4)], rnd.IntN(len(calls)+1)
					v := views[rnd.IntN(2)]
					action := event.Action(1 + rnd.IntN(3))
					switch rnd.IntN(8) {
					case 0, 1, 2:
						c := hub.CallRequest{ID: fmt.Sprintf("r%d", len(calls)), Server: name, Tool: "echo"}
						calls = append(calls, w.call(c))
					case 3:
						act.Go(func() { _, _ = w.hub.CancelRequest(fmt.Sprintf("r%d", n), "", "x", event.OriginUser) })
					case 4:
						act.Go(func() { _, _ = w.hub.StopServer(context.Background(), name, "") })
					case 5, 6:
						act.Go(func() { answerAny(v, action) })
					case 7:
						switch rnd.IntN(3) {
						case 0:
							load(step)
						case 1:
							for _, v := range views {
								v.win.Detach(true)
							}
							views = []*view{w.user(""), w.user("")}
						case 2:
							for _, r := range append(w.hub.RememberedInputs(), w.hub.RememberedLaunches()...) {
								_ = w.hub.ForgetInput(r.ID) || w.hub.ForgetLaunch(r.ID)
							}
						}
					}
				}
				act.Wait()
				if bad := w.hub.Inconsistent(); bad != "" {
					t.Fatalf("seed %d: %s", seed, bad)
				}
				if rnd.IntN(3) > 0 {
					pass(time.Duration(rnd.IntN(3)) * time.Second)
				}
			}
			pass(2 * hub.DefaultHumanTimeout)
			pass(2 * hub.DefaultHumanTimeout)
			for i, c := range calls {
				if !c.over() {
					t.Fatalf("seed %d: call %d never ended", seed, i)
				}
				// Any error but an internal one may occur. SERVER_BROKEN is that of a start between a reload and
				// EditConfs in load: the file itself has no inputs.
				if e, ok := errors.AsType[*event.Error](c.err); c.err != nil && (!ok || e.Reason == "INTERNAL") {
					t.Errorf("seed %d: call %d: %v", seed, i, c.err)
				}
			}
			closed := map[string]int{}
			for _, c := range eventsOf[*event.PromptClosed](witness) {
				if closed[c.PromptID]++; closed[c.PromptID] > 1 {
					t.Errorf("seed %d: prompt %s closed twice", seed, c.PromptID)
				}
			}
			w.nothingLeft()
		})
	}
}

// answerAny answers the newest prompt that a window was ever shown, open or not.
func answerAny(v *view, action event.Action) {
	v.mu.Lock()
	var p *event.PromptInfo
	for _, e := range v.events {
		if o, ok := e.Body.(*event.PromptOpened); ok {
			p = &o.Prompt
		}
	}
	v.mu.Unlock()
	if p == nil {
		return
	}
	a := event.PromptAnswer{PromptID: p.ID, Action: action, Scope: event.ApprovalScope(len(p.ID) % 4)}
	if p.Kind == event.PromptConfigInput {
		a.Content = map[string]string{"key": `"abc-123"`, "region": `"us"`}[p.Input.InputID]
	}
	_ = v.win.Answer(a)
}
