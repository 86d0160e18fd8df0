package hostile_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestServerGivesAway: a secret that a server was given appears in none of its log messages, in none of the usual
// encodings. Finding C8.
func TestServerGivesAway(t *testing.T) {
	const name = "gives-away"
	s := bare(t)
	s.evil[name] = newEvil(t, name)
	s.load(users(), &mcphubv1.ConfigSource{Path: "/user/more.json", Scope: "user", Json: `{
		"inputs":[{"id":"key","type":"promptString","password":true}],
		"servers":{"gives-away":{"command":"gives-away","env":{"KEY":"${input:key}"},"alwaysAllow":["*"]}}}`})
	attack := s.call(name, hostile.Tool)
	asked := s.prompt(mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT, attack.done)
	if asked == nil {
		t.Fatalf("nobody was asked for the key: %v", attack.err)
	}
	if r := s.window.Accept(asked.GetPromptId(), `"`+hostile.Secret+`"`); r.GetError() != nil {
		t.Fatal(r)
	}
	s.ends(attack, "the call")
	s.does(name, "written", 1)
	want := 2*len(hostile.Spellings()) + 2
	s.logs(name, want)
	logged := 0
	for _, w := range s.both() {
		for _, e := range w.Events() {
			text := protojson.Format(e)
			for spelling, secret := range hostile.Spellings() {
				if strings.Contains(text, secret) || strings.Contains(text, strings.Trim(secret, `"`)) {
					t.Errorf("an event has the secret, spelled as %s: %s", spelling, text)
				}
			}
			for _, half := range []string{hostile.Secret[:len(hostile.Secret)/2], hostile.Secret[len(hostile.Secret)/2:]} {
				if strings.Contains(text, half) {
					t.Errorf("an event has half of the secret: %s", text)
				}
			}
			if strings.Contains(e.GetLogMessage().GetDataJson(), "[redacted]") {
				logged++
			}
		}
	}
	if logged != 2*want {
		t.Errorf("%d messages without the secret were shown, want %d", logged, 2*want)
	}
	s.bystander()
}
