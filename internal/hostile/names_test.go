package hostile_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestNamesThatLookLikeOthers: for a folder's server whose name looks like that of a user's server, the problem shows
// both names with escapes. The folder's server gets no call of the other. Finding C9.
func TestNamesThatLookLikeOthers(t *testing.T) {
	s := bare(t)
	r := s.load(users(), workspace(`{"servers":{"`+hostile.LikeGood+`":{"command":"evil"}}}`))
	told := ""
	for _, p := range r.GetProblems() {
		told += p.GetMessage() + "\n"
	}
	if !strings.Contains(told, `"g\u043e\u043ed"`) || !strings.Contains(told, `"good"`) {
		t.Errorf("people are told %q", told)
	}
	s.bystander()
	if n := s.starts(hostile.LikeGood); n != 0 {
		t.Errorf("%d starts", n)
	}
}

// TestLongNames: long names, versions and instructions of a server are cut in what all windows are told, and delay no
// other server. Finding C9.
func TestLongNames(t *testing.T) {
	const name = "long-names"
	s := play(t, "", name)
	echo := s.call(name, "echo")
	s.ends(echo, "a call of that server")
	if echo.err != nil {
		t.Errorf("a call of that server failed: %v", echo.err)
	}
	s.bystander()
	for _, w := range s.both() {
		for _, e := range w.Events() {
			if n := proto.Size(e.GetServerChanged()); n > 200<<10 {
				t.Errorf("a window was told of the server in %d bytes", n)
			}
		}
		server := w.Server(name)
		if n := len(server.GetInstructions()); n > 64<<10 || n == 0 {
			t.Errorf("instructions of %d bytes", n)
		}
		if n := len(server.GetVersion()); n > 1<<10 || n == 0 {
			t.Errorf("a version of %d bytes", n)
		}
	}
	r, err := s.servers.ListTools(t.Context(), &mcphubv1.ListToolsRequest{Server: name})
	if err != nil || len(r.GetTools()) != 1 || r.GetTools()[0].GetName() != "echo" { // the other one has a long name
		t.Errorf("%d tools, %v", len(r.GetTools()), err)
	}
}
