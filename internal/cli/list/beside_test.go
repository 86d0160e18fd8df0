package list

import (
	"strings"
	"testing"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestServersOfOneName: an address (name@scope) picks the server of that scope, whatever name it is listed by, and a
// start of all servers leaves out one that is listed beside another of its name.
func TestServersOfOneName(t *testing.T) {
	list := func() *mcphubv1.ListServersResponse {
		return &mcphubv1.ListServersResponse{Servers: []*mcphubv1.Server{
			{Name: "s", ConfigName: "s", ConfigScope: "workspace"},
			{Name: "s@user", ConfigName: "s", ConfigScope: "user"},
			{Name: "t", ConfigName: "t", ConfigScope: "host"},
		}}
	}
	for names, want := range map[string]string{"": "s t", "s": "s", "s@workspace": "s", "s@user": "s@user",
		"s@user t@host": "s@user t"} {
		r, asked := list(), strings.Fields(names)
		if err := pick(r, asked); err != nil {
			t.Errorf("%q: %v", names, err)
		}
		if got := strings.Join(startable(r.GetServers(), len(asked) > 0), " "); got != want {
			t.Errorf("%q starts %q, want %q", names, got, want)
		}
	}
	if err := pick(list(), []string{"t@user"}); err == nil {
		t.Error("an address that nothing has was taken")
	}
	all := list().GetServers()
	if of, beside := serverState(all[0], time.Time{}), serverState(all[1], time.Time{}); strings.Contains(of, "beside") ||
		!strings.Contains(beside, "beside s") {
		t.Errorf("%q and %q", of, beside)
	}
}
