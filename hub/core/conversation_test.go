package core_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/internal/conversation"
)

var update = flag.Bool("update", false, "write what the core orders into the conversations")

// TestConversations plays testdata/*.txt: what people rely on, as events and the effects that follow. With -update the
// effects are written anew.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := conversation.Play(string(want), func(s *core.State, line string) {
				if wrong := s.Inconsistent(); wrong != "" {
					t.Errorf("after %s: %s", line, wrong)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}
