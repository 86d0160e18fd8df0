package hostile_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// pings sends a ping on a pipe and waits for its answer. It returns the lines that came before.
func (e *entrance) pings(p *pipe) (others []string) {
	p.say(`{"jsonrpc":"2.0","id":"the end","method":"ping"}`)
	for {
		line := e.next(p)
		if strings.Contains(line, `"the end"`) {
			return others
		}
		others = append(others, line)
	}
}

func answers(t *testing.T, e *entrance) {
	p := e.pipe(true)
	for i := range 20_000 {
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{}}}`, i%100))
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"no"}}`, i%100))
		p.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"you are wrong"}}`)
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p%d","progress":1}}`, i))
	}
	if others := e.pings(p); len(others) > 0 {
		t.Errorf("the client got %q", others[:1])
	}
	e.leave(p)
}

func flips(t *testing.T, e *entrance) {
	p := e.pipe(true)
	for i := range 5000 {
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"logging/setLevel","params":{"level":%q}}`, i,
			[]string{"debug", "emergency"}[i%2]))
		if i%50 == 0 {
			e.pings(p)
		}
	}
	e.pings(p)
	e.passerby()
	e.leave(p)
}

func roots(t *testing.T, e *entrance) {
	p := e.pipe(true)
	for range 20_000 {
		p.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	if others := e.pings(p); len(others) > 0 { // no roots are requested: the client has not declared any
		t.Errorf("the client got %q", others[:1])
	}
	e.leave(p)
}

func subscribes(t *testing.T, e *entrance) {
	p := e.pipe(true)
	accepted, refused := 0, 0
	hear := func(line string) {
		if strings.Contains(line, `"error"`) {
			refused++
		} else {
			accepted++
		}
	}
	const most = 3000
	for i := range most {
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"mcphub://good/x%d"}}`,
			i, i))
		if i%50 == 0 {
			for _, line := range e.pings(p) {
				hear(line)
			}
		}
	}
	for accepted+refused < most {
		hear(e.next(p))
	}
	if accepted == 0 || accepted > bounds.ClientSubscriptions {
		t.Errorf("one client has %d subscriptions", accepted)
	}
	other := e.pipe(true)
	other.say(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"mcphub://good/x"}}`)
	if line := e.next(other); !strings.Contains(line, `"result":{}`) {
		t.Errorf("another client got %s", line)
	}
	e.leave(other)
	e.leave(p)
}

func batches(t *testing.T, e *entrance) {
	one := `{"jsonrpc":"2.0","id":%d,"method":"ping"},`
	var all strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&all, one, i)
	}
	for name, body := range map[string]string{"large": "[" + all.String() + `{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		"empty": `[]`, "of batches": strings.Repeat("[", 60) + strings.Repeat("]", 60), "of nothing": `[null,1,"a"]`,
		"of initialize": "[" + greeting + "," + greeting + "]"} {
		for _, session := range []string{"", e.honest} {
			status, text := e.post(session, body)
			if status == http.StatusOK && !strings.Contains(text, "error") || status == 0 || status >= 500 || len(text) > 2000 {
				t.Errorf("a batch, %s: %d %.200s", name, status, text)
			}
		}
	}
}
