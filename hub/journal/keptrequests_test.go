package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

func open(t *testing.T, dir string, l keptLimits) *KeptRequests {
	t.Helper()
	k := OpenKeptRequests(dir, nil, bounds.NewBudget("texts that wait", 1<<20, 1<<20).Account("kept"))
	t.Cleanup(k.Close)
	if l != (keptLimits{}) {
		k.limits = l
	}
	return k
}

// settle waits until all is written.
func (k *KeptRequests) settle() { k.work.Wait() }

// whole reads a part piece by piece.
func (k *KeptRequests) whole(id string, part Part, limit int) (string, error) {
	text := ""
	for offset := int64(0); ; {
		p, err := k.Read(id, part, offset, limit)
		if err != nil {
			return text, err
		}
		text += p.Text
		if p.Next == 0 {
			return text, nil
		}
		offset = p.Next
	}
}

func (k *KeptRequests) wants(t *testing.T, id string, part Part, want string) {
	t.Helper()
	if got, err := k.whole(id, part, 7); got != want || err != nil {
		t.Errorf("%s: part %d is %.60q, %v; want %.60q", id, part, got, err, want)
	}
}

func (k *KeptRequests) refuses(t *testing.T, id string, part Part, reason, words string) {
	t.Helper()
	_, err := k.Read(id, part, 0, 0)
	if e := (*event.Error)(nil); !errors.As(err, &e) || e.Reason != reason || !strings.Contains(e.Message, words) {
		t.Errorf("%s: part %d: %v", id, part, err)
	}
}

func small() keptLimits {
	most := amount{entries: 10, memory: 10 * (overhead + 20), disk: 2000}
	return keptLimits{all: most, server: amount{6, most.memory, 1200}, short: 10}
}

// TestKept: short texts and long ones are read as they came, while they are written and after that; an id that is used
// again is the later request; nothing is left on the disk.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, keptLimits{})
	long := strings.Repeat("añb日c", 10_000)
	k.Keep(&KeptRequest{ID: "short", Server: "s", Arguments: `{"a":1}`, Result: []byte(`{}`)})
	k.Keep(&KeptRequest{ID: "long", Server: "s", Arguments: long, Result: []byte("r" + long)})
	k.Keep(&KeptRequest{ID: "failed", Server: "s"})
	for range 2 {
		k.wants(t, "short", Arguments, `{"a":1}`)
		k.wants(t, "short", Result, `{}`)
		k.wants(t, "long", Arguments, long)
		if got, err := k.whole("long", Result, 0); got != "r"+long || err != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		k.wants(t, "failed", Arguments, "")
		k.refuses(t, "failed", Result, event.ReasonNoResult, "failed, or was cancelled")
		k.settle()
	}
	k.refuses(t, "never", Arguments, event.ReasonRequestNotKept, "make room")
	k.refuses(t, "short", parts, event.ReasonRequestNotKept, "")
	k.Keep(&KeptRequest{ID: "long", Server: "other", Result: []byte("again")})
	k.wants(t, "long", Result, "again")
	files := func() int {
		found, err := filepath.Glob(filepath.Join(dir, "requests", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if info, err := os.Stat(f); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", f, info.Mode(), err)
			}
		}
		return len(found)
	}
	k.settle()
	if n := files(); n != 0 {
		t.Errorf("%d files of what is forgotten are left", n)
	}
	k.Keep(&KeptRequest{ID: "last", Server: "s", Result: []byte(long)})
	k.settle()
	if n := files(); n != 1 {
		t.Errorf("%d files", n)
	}
	k.Close()
	k.Keep(&KeptRequest{ID: "late", Server: "s"})
	k.refuses(t, "late", Arguments, event.ReasonRequestNotKept, "")
	if n := files(); n != 0 {
		t.Errorf("%d files are left at the end", n)
	}
}

// TestServerPaysForItself: whatever one server keeps, another one's stay, and it loses its own oldest.
func TestServerPaysForItself(t *testing.T) {
	for name, size := range map[string]int{"number": 1, "short texts": 10, "files": 300} {
		t.Run(name, func(t *testing.T) {
			k := open(t, t.TempDir(), small())
			text := func(id string) string { return strings.Repeat(id[:1], size) }
			for i := range 2 {
				k.Keep(&KeptRequest{ID: fmt.Sprint("quiet", i), Server: "quiet", Result: []byte(text("q"))})
				k.settle()
			}
			for i := range 50 {
				k.Keep(&KeptRequest{ID: fmt.Sprint("greedy", i), Server: "greedy", Result: []byte(text("g"))})
				k.settle()
			}
			for i := range 2 {
				k.wants(t, fmt.Sprint("quiet", i), Result, text("q"))
			}
			k.wants(t, "greedy49", Result, text("g"))
			k.refuses(t, "greedy40", Result, event.ReasonRequestNotKept, "make room")
			if k.total.exceeds(k.limits.all) || k.servers["greedy"].exceeds(k.limits.server) {
				t.Errorf("%+v is kept, of one %+v", k.total, k.servers["greedy"])
			}
		})
	}
}

// TestManyServers: where no server keeps too much and all together do, the oldest go.
func TestManyServers(t *testing.T) {
	k := open(t, t.TempDir(), small())
	for i := range 40 {
		k.Keep(&KeptRequest{ID: fmt.Sprint("r", i), Server: fmt.Sprint("s", i%5), Result: []byte("x")})
	}
	k.wants(t, "r30", Result, "x")
	k.refuses(t, "r29", Result, event.ReasonRequestNotKept, "make room")
	if n := len(k.byID); n != small().all.entries || n != k.total.entries || n != len(k.oldest) {
		t.Errorf("%d are kept, counted as %d", n, k.total.entries)
	}
}

// TestTooMuchAtOnce: what waits for a slow disk is bounded, and no longer counts once it is written.
func TestTooMuchAtOnce(t *testing.T) {
	k := open(t, t.TempDir(), keptLimits{})
	result := make([]byte, bounds.KeptShortBytes+1)
	k.waiting = bounds.NewBudget("texts that wait", 2*len(result), 2*len(result)).Account("kept")
	k.work.Add(1)
	k.working = true // as if a slow writer were at work
	for i := range 4 {
		k.Keep(&KeptRequest{ID: fmt.Sprint(i), Server: "s", Result: result})
	}
	k.refuses(t, "2", Result, event.ReasonRequestNotKept, "at once")
	k.Keep(&KeptRequest{ID: "arguments", Server: "s", Arguments: string(result)})
	k.refuses(t, "arguments", Arguments, event.ReasonRequestNotKept, "at once")
	go func() { defer k.work.Done(); k.run() }()
	k.settle()
	if held := k.waiting.Held(); held != 0 {
		t.Errorf("%d bytes wait", held)
	}
	if got, err := k.whole("1", Result, 0); got != string(result) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	k.Keep(&KeptRequest{ID: "later", Server: "s", Result: result})
	k.settle()
	if got, err := k.whole("later", Result, 0); got != string(result) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestNoDisk: where files cannot be written, short texts are kept all the same.
func TestNoDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := open(t, dir, small())
	k.Keep(&KeptRequest{ID: "r", Server: "s", Arguments: "{}", Result: make([]byte, 11)})
	k.settle()
	k.wants(t, "r", Arguments, "{}")
	k.refuses(t, "r", Result, event.ReasonRequestNotKept, "could not be written")
}

// TestConcurrent: requests end, are read, and make room at once.
func TestConcurrent(t *testing.T) {
	k := open(t, t.TempDir(), small())
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for n := range 100 {
				k.Keep(&KeptRequest{ID: fmt.Sprint("r", n%7), Server: fmt.Sprint("s", i), Arguments: "{}", Result: make([]byte, n)})
				_, _ = k.Read(fmt.Sprint("r", n%5), Part(n%2), int64(n), n)
			}
		})
	}
	work.Wait()
	k.settle()
	if k.total.exceeds(k.limits.all) || k.waiting.Held() != 0 {
		t.Errorf("%+v is kept, %d bytes wait", k.total, k.waiting.Held())
	}
}
