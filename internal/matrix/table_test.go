package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	requirements = "../../docs/contributing/requirements.md"
	tableStart   = "## The cancellation matrix\n"
)

// table returns the section of the requirements that lists every cell.
func table(t *testing.T) string {
	var b strings.Builder
	b.WriteString(tableStart + `
Each row is a situation, each cell a subtest of ` + "`TestMatrix`" + ` that plays it, such as ` + "`TestMatrix/mid-stream/stdio/2024-11-05`" + `. It compares all that crossed
the wire, and what callers and windows were told, with ` + "`internal/matrix/testdata/<transport>/<situation>.txtar`" + `. The cells behind a URL are played once more
over real sockets (` + "`TestOverSockets_real`" + `), but for those in *italics*, which wait for minutes. Streamable HTTP began with 2025-03-26, and the older HTTP
with SSE is of 2024-11-05 (and spoken with 2025-11-25 in practice). The section is written by ` + "`go test ./internal/matrix -update`" + `.

| requirement (situation) | shown by | stdio | sse | http |
| --- | --- | --- | --- | --- |
`)
	for _, s := range situations(t) {
		cells, transcripts := map[string][]string{}, golden(t, s)
		for _, on := range s.on {
			name := on.revision
			if on.transport != stdio && waits(transcripts[on]) {
				name = "*" + name + "*"
			}
			cells[on.transport] = append(cells[on.transport], name)
		}
		fmt.Fprintf(&b, "| %s | `internal/matrix/%s: %s` | %s | %s | %s |\n", s.about, filepath.ToSlash(s.file), s.name,
			strings.Join(cells[stdio], " "), strings.Join(cells[sse], " "), strings.Join(cells[web], " "))
	}
	b.WriteString(
		"| The same over real sockets, with servers from the config, and no connection left | `internal/matrix: TestOverSockets_real` | | | |\n")
	return b.String()
}

// TestRequirementsNameEveryCell: the page of the requirements lists exactly the cells that exist.
func TestRequirementsNameEveryCell(t *testing.T) {
	raw, err := os.ReadFile(requirements)
	if err != nil {
		t.Fatal(err)
	}
	before, section, found := strings.Cut(string(raw), tableStart)
	after := ""
	if i := strings.Index(section, "\n## "); i >= 0 {
		section, after = section[:i], section[i:]
	}
	if *update {
		if !found {
			before += "\n"
		}
		if err := os.WriteFile(requirements, []byte(before+table(t)+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(table(t), "\n"), strings.Split(tableStart+section, "\n")); diff != "" {
		t.Errorf("the section differs (-cells +page); write it with -update:\n%s", diff)
	}
}
