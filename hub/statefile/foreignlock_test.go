package statefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// foreign is a settings file with Cline's lock on it, made at age before now; "" = without an owner in it.
func foreign(t *testing.T, dir, owner string, age time.Duration) (path string) {
	t.Helper()
	path = filepath.Join(dir, "settings.json")
	must(t, os.Mkdir(path+".lock", 0o700))
	if owner != "" {
		must(t, os.WriteFile(filepath.Join(path+".lock", owner), nil, 0o600))
	}
	made := time.Now().Add(-age)
	must(t, os.Chtimes(path+".lock", made, made))
	return path
}

func TestForeignLock(t *testing.T) {
	gone := errors.New("the hub ends")
	tests := []struct {
		name   string
		set    func(t *testing.T, dir string) string
		free   time.Duration // when the owner lets go; 0 = never
		cancel time.Duration // when the caller gives up; 0 = never
		want   error
		waits  time.Duration
	}{
		{name: "none", set: func(_ *testing.T, dir string) string { return filepath.Join(dir, "settings.json") }},
		{name: "being given up", set: func(t *testing.T, dir string) string { return foreign(t, dir, "", 0) }},
		{name: "stale", set: func(t *testing.T, dir string) string { return foreign(t, dir, "owner.1", foreignStale) }},
		{name: "a file", set: func(t *testing.T, dir string) string {
			must(t, os.WriteFile(filepath.Join(dir, "settings.json.lock"), []byte("1"), 0o600))
			return filepath.Join(dir, "settings.json")
		}},
		{name: "held", set: func(t *testing.T, dir string) string { return foreign(t, dir, "owner.1", 0) },
			want: errForeignLock, waits: foreignWait},
		{name: "let go", set: func(t *testing.T, dir string) string { return foreign(t, dir, "owner.1", 0) },
			free: 490 * time.Millisecond, waits: 500 * time.Millisecond},
		{name: "becomes stale", set: func(t *testing.T, dir string) string {
			return foreign(t, dir, "owner.1", foreignStale-time.Second)
		},
			waits: time.Second},
		{name: "caller gives up", set: func(t *testing.T, dir string) string { return foreign(t, dir, "owner.1", 0) },
			cancel: 100 * time.Millisecond, want: gone, waits: 100 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				path := tt.set(t, dir)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tt.free > 0 {
					time.AfterFunc(tt.free, func() { _ = os.RemoveAll(path + ".lock") })
				}
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, func() { cancel(gone) })
				}
				begin := time.Now()
				err := AwaitForeignLock(ctx, path)
				if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
					t.Errorf("the error is %v, want %v", err, tt.want)
				}
				if d := time.Since(begin); d != tt.waits {
					t.Errorf("waited %v, want %v", d, tt.waits)
				}
			})
		})
	}
}
