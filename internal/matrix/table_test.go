package matrix

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// situations are the rows of the matrix.
var situations = []situation{
	start, startStopped, awaitingApproval, beforeHeaders, beforeProgress, midStream, streamEnded, afterResponse,
	lateAnswer, doubled, unknown, malformed,
	duringPrompt, promptWithdrawn, secondRound, serverWithdraws, serverWithdrawsLate, serverGone, serverGonePrompt,
	listenResult, listenCancelled, listenError, listenLink,
	taskBeforeID, taskWithID, taskCompletes, taskUncancellable, taskServerCancels,
}

const (
	requirements = "../../docs/contributing/requirements.md"
	tableStart   = "## The cancellation matrix\n"
)

// table returns the section of the requirements that lists every cell.
func table() string {
	var b strings.Builder
	b.WriteString(tableStart + `
Each row is a situation, each cell the subtest that plays it: ` + "`TestCancelMidStream/stdio/2024-11-05`" + ` and so on. A cell compares all that crossed the wire, and
what the windows were told, with ` + "`internal/matrix/testdata/<transport>/<situation>.txtar`" + `. The cells behind a URL are played once more over real sockets
(` + "`TestOverSockets_real`" + `), but for those in *italics*, which wait for minutes. An empty cell does not exist: Streamable HTTP began with 2025-03-26, and the older
HTTP with SSE is of 2024-11-05 (and spoken with 2025-11-25 in practice). The section is written by ` + "`go test ./internal/matrix -update`" + `.

| requirement (situation) | shown by | stdio | sse | http |
| --- | --- | --- | --- | --- |
`)
	for _, s := range situations {
		cells := map[string][]string{}
		for _, on := range s.on {
			name := on.name()
			if s.longWaits {
				name = "*" + name + "*"
			}
			cells[on.transport] = append(cells[on.transport], name)
		}
		fmt.Fprintf(&b, "| %s | `internal/matrix: %s` | %s | %s | %s |\n", s.about, s.test,
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
		if err := os.WriteFile(requirements, []byte(before+table()+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(table(), "\n"), strings.Split(tableStart+section, "\n")); diff != "" {
		t.Errorf("the section differs (-cells +page); write it with -update:\n%s", diff)
	}
}
