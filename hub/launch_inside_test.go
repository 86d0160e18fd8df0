package hub

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
)

const folderFile, userConfig = "/repo/.vscode/mcp.json", "/config/mcp.json"

// ofFolder is an entry that a folder brings, ofUser one of the user's own file.
func ofFolder(url string) config.Server {
	return config.Server{Name: "s", Transport: config.TransportHTTP, URL: url,
		Origin: config.Origin{File: folderFile, Line: 3, Scope: "workspace", Dialect: config.DialectVSCode, Folder: "/repo"}}
}

func ofUser(url string) config.Server {
	return config.Server{Name: "s", Transport: config.TransportHTTP, URL: url,
		Origin: config.Origin{File: userConfig, Line: 9, Scope: "user", Dialect: config.DialectVSCode}}
}

// asker is a window that shows questions about launches and inputs.
func (h *inside) asker() *view {
	return h.attach(Hello{WindowID: "w1", Kinds: []event.PromptKind{event.PromptServerLaunch, event.PromptConfigInput}})
}

// background calls f on a goroutine, and returns what will have its result.
func background(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	synctest.Wait()
	return done
}

// prepare prepares the launch of s in the background.
func (h *inside) prepare(ctx context.Context, conf config.Server) <-chan error {
	return background(func() error {
		_, err := h.the("s").launch.prepare(ctx, conf, true)
		return err
	})
}

// asked returns the one open prompt, once nothing moves.
func (h *inside) asked() (p *prompt) {
	h.t.Helper()
	synctest.Wait()
	h.update(func(st *state) {
		all := st.promptsInOrder()
		if len(all) != 1 {
			h.t.Fatalf("%d prompts are open, want 1", len(all))
		}
		p = all[0]
	})
	return p
}

func (v *view) answer(p *prompt, a event.PromptAnswer) {
	a.PromptID = p.id
	if err := v.Answer(a); err != nil {
		panic(err)
	}
}

// agree agrees for good to the launch of an entry as it is now.
func (h *inside) agree(e *grants.Entry) { h.grants.Agree(e.Form.Grant, event.ScopeAlways, "w1") }

// A yes from elsewhere closes the open question, and the server changes over once that was read; in a hub that ends, it
// does not at all.
func TestNoChangeOverUnderAQuestion(t *testing.T) {
	for _, drains := range []bool{false, true} {
		inBubble(t, func(t *testing.T, h *inside) {
			h.asker()
			conf := ofFolder("https://a.example/mcp")
			conf.Behind = []config.Server{ofUser("https://b.example/mcp")}
			h.reads(conf)
			l := &h.the("s").launch
			counts := func() (file string) {
				h.within(func() { file = l.entry.Conf.Origin.File })
				return file
			}
			if info := h.infoOf(l.server); counts() != userConfig || len(info.Waiting) != 1 ||
				info.Waiting[0].File != folderFile || len(info.Shadows) != 0 {
				t.Fatalf("a folder's entry counts unasked: %+v", info)
			}
			done := background(func() error { return l.askWaiting(t.Context()) })
			h.asked()
			h.update(func(st *state) {
				if h.agree(l.entries[0]); !drains {
					st.consentsChanged()
				}
				if l.entry.Conf.Origin.File != userConfig {
					t.Error("the server changed over before the question was read as closed")
				}
			})
			if drains {
				h.Drain(t.Context(), "")
				<-done
				h.update((*state).consentsChanged)
				if counts() != userConfig {
					t.Error("the server changed over in a hub that ends")
				}
				return
			}
			<-done
			h.update(func(st *state) {
				if open := len(st.promptsInOrder()); open != 0 || l.entry.Conf.Origin.File != folderFile {
					t.Errorf("%d questions are open, the entry of %s counts", open, l.entry.Conf.Origin.File)
				}
			})
		})
	}
}

// With no entry but those that need a yes, the first is asked about.
func TestFirstOfFoldersIsAskedAbout(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		conf, second := ofFolder("https://a.example/mcp"), ofFolder("https://b.example/mcp")
		second.Origin.File = "/other/.vscode/mcp.json"
		conf.Behind = []config.Server{second}
		h.reads(conf)
		l := &h.the("s").launch
		info := h.infoOf(l.server)
		h.within(func() {
			if l.entry.Conf.Origin.File != folderFile || len(info.Waiting) != 0 || len(info.Shadows) != 1 ||
				info.LaunchConsent != event.LaunchNeeded {
				t.Errorf("%+v", info)
			}
		})
		if err := l.askWaiting(t.Context()); err != nil { // there is no window: a question would fail
			t.Errorf("nothing waits, and somebody was asked: %v", err)
		}
	})
}

// A config that is read anew while a server is to be started: a caller that does not wait any more is told why, also
// when the file changes all the time.
func TestConfigChangesMeanwhile(t *testing.T) {
	cause := errors.New("the start was stopped")
	inBubble(t, func(t *testing.T, h *inside) {
		was := ofFolder("https://a.example/mcp")
		h.reads(ofFolder("https://b.example/mcp"))
		ctx, stop := context.WithCancelCause(t.Context())
		stop(cause)
		if err := <-h.prepare(ctx, was); !errors.Is(err, cause) {
			t.Errorf("error %v", err)
		}
	})
	inBubble(t, func(t *testing.T, h *inside) {
		conf := ofFolder("https://a.example/mcp")
		h.reads(conf)
		ctx, stop := context.WithCancelCause(t.Context())
		looks, reading := 0, false
		h.launches.OnForm = func() {
			if looks++; reading { // this is the look of the reading itself
				return
			}
			reading = true
			h.reads(conf)
			if reading = false; looks > 100 {
				stop(cause)
			}
		}
		if err := <-h.prepare(ctx, conf); !errors.Is(err, cause) || looks < 100 {
			t.Errorf("error %v after %d looks", err, looks)
		}
	})
}

// What a start saw before its entry was replaced is not kept, and the start looks again.
func TestLookBeforeAChangeIsDropped(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		conf := ofFolder("https://a.example/mcp")
		conf.Behind = []config.Server{ofUser("https://b.example/mcp")}
		h.reads(conf)
		l := &h.the("s").launch
		seen := l.look(t.Context(), conf, nil)
		seen.form.Hash = "of another program"
		h.update(func(st *state) {
			form := l.entries[0].Form
			h.agree(l.entries[0])
			st.consentsChanged() // the folder's entry takes the place of the user's
			if agreed, again, err := st.judged(t.Context(), l, &seen); agreed || !again || err != nil ||
				l.entries[0].Form != form {
				t.Errorf("agreed %v, again %v, error %v, form %+v", agreed, again, err, l.entries[0].Form)
			}
		})
	})
}

// A yes that is taken back while values are asked for is none: what is started is what holds at the end.
func TestYesIsTakenBackMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		v := h.asker()
		conf := ofFolder("https://a.example/mcp")
		conf.Header = map[string]string{"Authorization": "Bearer ${input:token}"}
		conf.Inputs = []config.Input{{ID: "token", Secret: true, Origin: conf.Origin}}
		h.reads(conf)
		done := h.prepare(t.Context(), conf)
		v.answer(h.asked(), event.PromptAnswer{Action: event.ActionAccept, Scope: event.ScopeAlways})
		value := h.asked()
		if value.info.Input == nil {
			t.Fatalf("asked %+v", value.info)
		}
		for _, r := range h.RememberedLaunches() {
			if !h.ForgetLaunch(r.ID) {
				t.Error("there was no yes")
			}
		}
		v.answer(value, event.PromptAnswer{Action: event.ActionAccept, Content: `"tok-5521"`})
		again := h.asked()
		if again.launch == nil {
			t.Fatalf("asked %+v", again.info)
		}
		v.answer(again, event.PromptAnswer{Action: event.ActionDecline})
		wantReason(t, <-done, event.ReasonLaunchDeclined)
	})
}
