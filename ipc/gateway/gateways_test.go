package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// TestSetOfGateways: gateways open up to their bound, are reached with their own token alone, and none is open after
// CloseAll.
func TestSetOfGateways(t *testing.T) {
	h := hub.New(hub.Options{Version: "test"})
	defer h.Close(context.Background())
	set := gateway.NewSet(h)
	var opened []*gateway.Opened
	for i := range gateway.MaxOpen {
		o, err := set.Open(gateway.Options{Title: "t"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && o.Endpoint.Token == opened[i-1].Endpoint.Token {
			t.Error("two gateways have one token")
		}
		opened = append(opened, o)
	}
	var failed *event.Error
	if _, err := set.Open(gateway.Options{}, 0); !errors.As(err, &failed) || failed.Reason != event.ReasonBoundExceeded {
		t.Errorf("one too many: %v", err)
	}
	if advice := opened[0].Endpoint.Gateway.Options().Advice; !strings.Contains(advice, "open McpHub's view") {
		t.Errorf("where nobody can agree, a model is told %q", advice)
	}
	if got := status(t, opened[0], opened[1].Endpoint.Token); got != http.StatusUnauthorized {
		t.Errorf("with the token of another gateway: %d", got)
	}
	if got := status(t, opened[0], opened[0].Endpoint.Token); got != http.StatusOK {
		t.Errorf("with its own token: %d", got)
	}
	if !set.Close(opened[0].ID) || set.Close(opened[0].ID) || len(set.List()) != gateway.MaxOpen-1 {
		t.Errorf("after a close there are %d", len(set.List()))
	}
	if _, err := set.Open(gateway.Options{Profile: "nobody's"}, 0); !errors.As(err, &failed) ||
		failed.Reason != event.ReasonProfileNotFound {
		t.Errorf("a profile that is not there: %v", err)
	}
	if _, err := set.Open(gateway.Options{}, 0); err != nil {
		t.Errorf("one more, after one was closed and one failed: %v", err)
	}
	set.CloseAll()
	if _, err := set.Open(gateway.Options{}, 0); !errors.As(err, &failed) || failed.Reason != event.ReasonDraining {
		t.Errorf("after CloseAll: %v", err)
	}
	if len(set.List()) != 0 {
		t.Errorf("%d are open after CloseAll", len(set.List()))
	}
}

// status posts an initialize request with the token, and returns the HTTP status.
func status(t *testing.T, o *gateway.Opened, token string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, o.Endpoint.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,`+
		`"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// TestGatewayListensOnLoopbackAlone: an address that others could reach is refused.
func TestGatewayListensOnLoopbackAlone(t *testing.T) {
	h := hub.New(hub.Options{Version: "test"})
	defer h.Close(context.Background())
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1"} {
		g, err := gateway.New(h, gateway.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := gateway.Listen(g, address, ""); err == nil {
			e.Close(nil)
			t.Errorf("%s is listened on", address)
		}
	}
}

// TestBodiesAreBounded: the bytes read of all bodies count together; a body that exceeds the bound is refused, unless
// it is small. The bytes of a request that is over count no longer.
func TestBodiesAreBounded(t *testing.T) {
	reading, release := make(chan struct{}), make(chan struct{})
	over := 0
	count := func(n int) { over += n }
	handler := gateway.LimitBodies(8, 3, count, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			_, _ = io.ReadFull(r.Body, make([]byte, 6))
			close(reading)
			<-release
		}
		if _, err := io.ReadAll(r.Body); err == nil {
			fmt.Fprint(w, "read")
		}
	}))
	post := func(path, text string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(text)))
		return w.Code
	}
	slow := make(chan int)
	go func() { slow <- post("/slow", "123456") }()
	<-reading
	if got := post("/", "1234"); got != http.StatusServiceUnavailable {
		t.Errorf("beyond the bound: %d", got)
	}
	for what, text := range map[string]string{"within the bound": "12", "beyond it, but small": "123"} {
		if got := post("/", text); got != http.StatusOK {
			t.Errorf("%s: %d", what, got)
		}
	}
	close(release)
	if got := <-slow; got != http.StatusOK {
		t.Errorf("the first: %d", got)
	}
	if got := post("/", "12345678"); got != http.StatusOK {
		t.Errorf("after that: %d", got)
	}
	if over != 4+2+3+6+8 {
		t.Errorf("%d bytes were released", over)
	}
}

// TestNamesNeverMeet: no server can take the name that another server's tool has.
func TestNamesNeverMeet(t *testing.T) {
	a := gateway.NameOf("x.y", "t")
	_, hash, _ := strings.Cut(a, "__")
	if b := gateway.NameOf("x_y", hash); a == b {
		t.Errorf("two tools are called %s", a)
	}
}
