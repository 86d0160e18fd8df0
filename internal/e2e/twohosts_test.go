//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	launchKind = mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH
	always     = mcphubv1.ApprovalScope_APPROVAL_SCOPE_ALWAYS
)

// editor is one of several editors of a user: a hub and a window.
type editor struct {
	*door
	w *fakeeditor.Window
}

// twoEditors opens two hubs with the same state directory and the same config file.
func (p *place) twoEditors(scope string) [2]editor {
	p.t.Helper()
	var both [2]editor
	for i := range both {
		d := p.spawnStateful()
		both[i] = editor{d, d.windowWith(fakeeditor.Options{Title: "side bar",
			Kinds: []mcphubv1.PromptKind{approval, launchKind}})}
		d.read(p, scope)
	}
	return both
}

// write saves the config file as editors do: the old one stays until the new one is complete.
func (p *place) write(s servers) {
	p.t.Helper()
	p.writeText(s.config())
}

func (p *place) writeText(config string) {
	p.t.Helper()
	path := p.file("mcp.json")
	if err := os.WriteFile(path+".new", []byte(config), 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		p.t.Fatal(err)
	}
}

// read makes the hub read the config file, and watch it from then on.
func (d *door) read(p *place, scope string) {
	d.t.Helper()
	r,
		err := d.Servers.ReloadConfig(d.ctx,
		&mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Path: p.file("mcp.json"), Scope: scope,
			Folder: p.dir}}})
	if err != nil || len(r.GetProblems()) > 0 {
		d.t.Fatalf("the config: %v, %v", r.GetProblems(), err)
	}
}

func (d *door) remembered(kind mcphubv1.RememberedKind) (list []*mcphubv1.Remembered) {
	d.t.Helper()
	r, err := d.Servers.ListRemembered(d.ctx, &mcphubv1.ListRememberedRequest{})
	if err != nil {
		d.t.Fatal(err)
	}
	return slices.DeleteFunc(r.GetRemembered(), func(m *mcphubv1.Remembered) bool { return m.GetKind() != kind })
}

// prompts counts the prompts of a kind that the window has been shown.
func (e editor) prompts(kind mcphubv1.PromptKind) (n int) {
	for _, event := range e.w.Events() {
		if o := event.GetPromptOpened(); o != nil && fakeeditor.KindOf(o.GetPrompt()) == kind {
			n++
		}
	}
	return n
}

// TestApprovalHoldsInOtherEditor: an approval for always holds in every editor of the user, those that are open
// included; Forget in one of them ends it in all.
func TestApprovalHoldsInOtherEditor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(servers{"index": asking(p.stubborn("index"))})
	both := p.twoEditors("user")
	for _, e := range both { // each has the server, and has looked at what is remembered
		e.start("index")
		if list := e.remembered(mcphubv1.RememberedKind_REMEMBERED_KIND_TOOL_APPROVAL); len(list) != 0 {
			t.Fatalf("remembered %v", list)
		}
	}
	asked := func(e editor) {
		t.Helper()
		before := e.prompts(approval)
		c := e.call("index", "echo", "")
		prompt := e.w.WaitEvent("the question", func(event *mcphubv1.AttachResponse) bool {
			return event.GetPromptOpened().GetPrompt().GetRequestId() == c.id
		}).GetPromptOpened().GetPrompt()
		takes(t, e.w.AcceptFor(prompt.GetPromptId(), always))
		c.text()
		if n := e.prompts(approval) - before; n != 1 {
			t.Errorf("%d questions", n)
		}
	}
	unasked := func(e editor) {
		t.Helper()
		before := e.prompts(approval)
		e.echoes("index", "index")
		if n := e.prompts(approval) - before; n != 0 {
			t.Errorf("%d questions", n)
		}
	}
	asked(both[0])
	unasked(both[1])
	list := both[1].remembered(mcphubv1.RememberedKind_REMEMBERED_KIND_TOOL_APPROVAL)
	if len(list) != 1 || list[0].GetTool() != "echo" || list[0].GetScope() != always {
		t.Fatalf("remembered %v", list)
	}
	if _,
		err := both[1].Servers.Forget(both[1].ctx,
		&mcphubv1.ForgetRequest{RememberedIds: []string{list[0].GetRememberedId()}}); err != nil {
		t.Fatal(err)
	}
	asked(both[0])
	unasked(both[1])
}

// answerAll waits until n prompts of a kind are open in each editor, and answers all of them at once.
func answerAll(t *testing.T, both [2]editor, kind mcphubv1.PromptKind, n int) {
	t.Helper()
	var answers []func() *mcphubv1.Reply
	for _, e := range both {
		found := 0
		e.w.WaitEvent(fmt.Sprintf("%d questions of kind %v", n, kind), func(event *mcphubv1.AttachResponse) bool {
			prompt := event.GetPromptOpened().GetPrompt()
			if prompt == nil || fakeeditor.KindOf(prompt) != kind {
				return false
			}
			answers = append(answers, func() *mcphubv1.Reply { return e.w.AcceptFor(prompt.GetPromptId(), always) })
			found++
			return found == n
		})
	}
	replies := make([]*mcphubv1.Reply, len(answers))
	var all sync.WaitGroup
	for i, answer := range answers {
		all.Go(func() { replies[i] = answer() })
	}
	all.Wait()
	for _, r := range replies {
		takes(t, r)
	}
}

// TestTwoEditorsWriteAtOnce_long: two hubs record fifty launch consents, fifty lists of tools and fifty approvals at
// the same time. A third one then finds all of them: nothing was lost, and no file is broken.
func TestTwoEditorsWriteAtOnce_long(t *testing.T) {
	t.Parallel()
	each := 25
	if testing.Short() {
		each = 5
	}
	p := newPlace(t)
	s := servers{}
	for i := range 2 * each {
		name := fmt.Sprintf("s%02d", i)
		s[name] = asking(p.stubborn(name, "alone"))
	}
	p.write(s)
	both := p.twoEditors("workspace")
	var calls []*call
	for i, name := range slices.Sorted(maps.Keys(s)) {
		calls = append(calls, both[i%2].call(name, "of-"+name, ""))
	}
	answerAll(t, both, launchKind, each)
	answerAll(t, both, approval, each)
	for _, c := range calls {
		c.text()
	}
	for i, e := range both { // one server of the other editor needs no prompt
		e.echoesOwn("s" + fmt.Sprintf("%02d", 1-i))
		if n := e.prompts(launchKind) + e.prompts(approval); n != 2*each {
			t.Errorf("editor %d: %d questions", i, n)
		}
		if err := e.Close(e.ctx); err != nil {
			t.Error(err)
		}
	}

	third := p.spawnStateful()
	third.read(p, "workspace")
	kinds := map[mcphubv1.RememberedKind]string{
		mcphubv1.RememberedKind_REMEMBERED_KIND_SERVER_LAUNCH: "launches",
		mcphubv1.RememberedKind_REMEMBERED_KIND_TOOL_APPROVAL: "approvals",
	}
	for kind, what := range kinds {
		if n := len(third.remembered(kind)); n != 2*each {
			t.Errorf("%d %s are remembered", n, what)
		}
	}
	r, err := third.Servers.ListTools(third.ctx, &mcphubv1.ListToolsRequest{AllowCached: true})
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string]int{}
	for _, tool := range r.GetTools() {
		if !tool.GetCached() || tool.GetDefinitionJson() == "" {
			t.Errorf("tool %v", tool)
		}
		lists[tool.GetServer()]++
	}
	if len(lists) != 2*each || len(r.GetTroubles()) != 0 {
		t.Errorf("tools of %d servers; troubles %v", len(lists), r.GetTroubles())
	}
	if found := p.Processes(); len(found) != 1 {
		t.Errorf("the list has started %v", found)
	}
	third.echoesOwn("s07") // agreed to in one
	third.echoesOwn("s08") // and in the other
	soundState(t, p.file("state"))
}

// echoesOwn calls the tool that a stubborn server alone has.
func (d *door) echoesOwn(name string) {
	d.t.Helper()
	if got := d.call(name, "of-"+name, "").text(); got != name {
		d.t.Errorf("server %s says %q", name, got)
	}
}

// soundState checks that the files of a state directory are JSON, and that no temporary file is left.
func soundState(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		switch {
		case strings.HasSuffix(e.Name(), ".json"):
			found++
			if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || !json.Valid(text) ||
				strings.Contains(e.Name(), "aside") {
				t.Errorf("%s: %v\n%.300s", e.Name(), err, text)
			}
		case e.IsDir(), strings.HasSuffix(e.Name(), ".lock"):
		default:
			t.Errorf("unexpected file %s", e.Name())
		}
	}
	if found < 3 { // approvals, launches, tools
		t.Errorf("entries %v", entries)
	}
}

// TestConfigEditReachesBothEditors: when the config file is saved, every hub that reads it reloads it. Running calls go
// on; only the server whose launch changed is restarted.
func TestConfigEditReachesBothEditors(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := servers{"index": p.stubborn("index"), "other": p.stubborn("other")}
	p.write(s)
	both := p.twoEditors("user")
	var calls []*call
	var pids, others []int32
	for _, e := range both {
		c := e.call("index", "hang", "")
		e.w.WaitRequest(c.id, running)
		calls, pids = append(calls, c), append(pids, e.server("index").GetProcessId())
		others = append(others, e.start("other").GetProcessId())
	}

	index := s["index"]
	index.Timeouts, index.Approvals = map[string]string{"idle": "1h"}, map[string]string{"*": "allow", "crash": "deny"}
	s["index"], s["other"], s["new"] = index, p.stubborn("other", "changed"), p.stubborn("new")
	p.write(s)
	for i, e := range both {
		r := e.w.WaitEvent("the reload", func(event *mcphubv1.AttachResponse) bool {
			return event.GetConfigReloaded().GetChangedFile() != ""
		}).GetConfigReloaded()
		if r.GetChangedFile() != p.file("mcp.json") || !slices.Equal(r.GetStopped(), []string{"other"}) ||
			len(r.GetProblems()) != 0 {
			t.Errorf("editor %d was told %v", i, r)
		}
		e.echoes("new", "new")
		e.call("index", "crash", "").fails("PERMISSION_DENIED", "DENIED_BY_POLICY")
		e.echoes("other", "other")
		if now := e.server("other").GetProcessId(); now == others[i] {
			t.Errorf("editor %d: the server whose launch changed is process %d still", i, now)
		}
		if now := e.server("index"); now.GetProcessId() != pids[i] || e.w.Requests()[calls[i].id].GetState() != running {
			t.Errorf("editor %d: process %d became %d, its call is %v", i, pids[i], now.GetProcessId(),
				e.w.Requests()[calls[i].id])
		}
	}
}

// TestEditorsLeaveEachOtherAlone: a hub that starts ends what killed hubs left, not what a running one has started;
// when a hub is killed, only its own servers end.
func TestEditorsLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(servers{"index": p.stubborn("index", "stray")})
	both := p.twoEditors("user")
	var pids []int
	var calls []*call
	for _, e := range both {
		c := e.call("index", "hang", "")
		e.w.WaitRequest(c.id, running)
		calls, pids = append(calls, c), append(pids, int(e.server("index").GetProcessId()))
	}
	const family = 5 // hub, guard, server, child, stray
	until(t, "all are there", func() bool { return len(p.Processes()) == 2*family })
	before := p.Processes()

	third := p.spawnStateful()
	third.read(p, "user")
	third.echoes("index", "index")
	if err := third.Close(third.ctx); err != nil {
		t.Error(err)
	}
	// Compared by id, since the command line of a stray changes from setsid to sleep.
	same := func(string, string) bool { return true }
	if after := p.Processes(); !maps.EqualFunc(before, after, same) {
		t.Errorf("a third hub came and went:\n%v\n%v", before, after)
	}

	first := doortest.Watch(t, both[0].PID())
	if err := syscall.Kill(both[0].PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	first.Wait(t, faketime.Long)
	until(t, "the killed hub's are gone", func() bool { return len(p.Processes()) == family })
	again := p.spawnStateful() // it sweeps the ledger of the killed one
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pids[1])); err != nil || len(p.Processes()) != family+1 {
		t.Errorf("of the living hub: %v, %v", err, p.Processes())
	}
	again.read(p, "user")
	again.echoes("index", "index")
	if s := both[1].server("index"); int(s.GetProcessId()) != pids[1] ||
		both[1].w.Requests()[calls[1].id].GetState() != running {
		t.Errorf("the living hub's server: %v", s)
	}
	both[1].echoes("index", "index")
}
