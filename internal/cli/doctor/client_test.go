package doctor_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

// The doctor examines this program's own client: what was done is as it should be, and what was not done is not seen,
// so that the status is not that of success. A client that runs on is ended when the program that drives it has ended.
func TestDoctorOfAClient_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	call := fmt.Sprintf("'%s' call --stdio={server} slow --approve allow --cancel-after 1s --reason enough", p.Binary)
	called := filepath.Join(p.Folder, "called")
	for _, args := range [][]string{
		{"--client", call},
		{"--client", fmt.Sprintf(`sh -c '"$@"; echo >%s; exec sleep 60' sh %s`, called, call),
			"--drive", fmt.Sprintf("sh -c 'until test -e %s; do sleep 0.1; done'", called)},
	} {
		r := p.Run(append([]string{"doctor", "--json"}, args...)...)
		var found doctor.Report
		if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
			t.Fatalf("%v: %v: %s%s", args, err, r.Stdout, r.Stderr)
		}
		levels := map[string]doctor.Level{}
		for _, f := range found.Findings {
			levels[f.Check] = f.Level
		}
		if r.Status != exit.Usage || found.Count(doctor.Mend) > 0 || found.Calls != 1 ||
			levels["cancel.sent"] != doctor.Good || levels["question.answered"] != doctor.Unseen {
			t.Errorf("%v: status %d, %d calls, %v\n%s", args, r.Status, found.Calls, levels, r.Stderr)
		}
		if !strings.Contains(r.Stdout, `the reason is \"enough\"`) ||
			!strings.Contains(r.Stderr, "call slow, and cancel it") {
			t.Errorf("%v: %s%s", args, r.Stdout, r.Stderr)
		}
	}
}

// A program that does not connect is said to have not connected, and examines as nothing.
func TestDoctorOfNoClient_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	r := p.Run("doctor", "--client", fmt.Sprintf("'%s' version", p.Binary))
	if r.Status != exit.Server || !strings.Contains(r.Stderr, "did not connect") {
		t.Errorf("status %d: %s%s", r.Status, r.Stdout, r.Stderr)
	}
}

func TestDoctorOfClientsUsage(t *testing.T) {
	p := clitest.Inside(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"files", "--client", "x"}, "goes with no server"},
		{[]string{"--client", "x | y"}, "no shell reads this"},
		{[]string{"--client", "x", "--drive", "'"}, "--drive"},
		{[]string{"--drive", "x"}, "goes with --client"},
	} {
		r := p.Run(append([]string{"doctor"}, c.args...)...)
		if r.Status != exit.Usage || !strings.Contains(r.Stderr, c.want) {
			t.Errorf("%v: status %d, %s", c.args, r.Status, r.Stderr)
		}
	}
}
