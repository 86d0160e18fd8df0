package hostile_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestListOfManyLazyServers: a list of the tools of all servers starts only a few of fifty servers at a time. Finding
// A14.
func TestListOfManyLazyServers(t *testing.T) {
	s := bare(t)
	evil, err := hostile.New("start-never")
	if err != nil {
		t.Fatal(err)
	}
	s.evil["none"], s.evil["start-never"] = evil, evil // as "none" for the command, and by its behaviour
	s.load(users(), &mcphubv1.ConfigSource{Path: "/user/more.json", Scope: "user", Json: hostile.ManyLazyServers(50)})
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		_, _ = s.servers.ListTools(t.Context(), &mcphubv1.ListToolsRequest{})
	}()
	s.does("start-never", "starts", 4)
	for range 3 {
		s.bystander()
	}
	if n := evil.Count("starts"); n > 8 {
		t.Errorf("%d servers start at once", n)
	}
}
