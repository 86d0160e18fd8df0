package core

import (
	"slices"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// askingServer is a server that asks while calls of clients are open.
type askingServer struct {
	*State
	t *testing.T
}

// newAsking makes a call of each of these clients, as alter changes it. Windows show all kinds of questions.
func newAsking(t *testing.T, clients []string, alter func(n int, e *RequestMade)) askingServer {
	a := askingServer{New("hub"), t}
	a.Apply(start, WindowShows{"w", allKinds()})
	for i, client := range clients {
		e := RequestMade{Prefix: "call", Server: 1, Call: true, Client: client, Answers: allKinds()}
		if alter != nil {
			alter(i+1, &e)
		}
		a.Apply(start, e)
		a.Apply(start, Looked{Request: RequestNumber(i + 1), Up: true})
	}
	return a
}

// who is asked, and how.
type who struct {
	client        RequestNumber
	hidden, turns bool
}

func (a askingServer) ask(at time.Time, e Asked) (w who) {
	a.t.Helper()
	e.Kind, e.Server = event.PromptSampling, 1
	for _, effect := range a.Apply(at, e) {
		switch effect := effect.(type) {
		case PromptOpened:
			w.client, w.hidden = effect.Client, effect.Hidden
		case TurnsTaken:
			w.turns = true
		case Refused:
			a.t.Errorf("refused: %v", effect.Why)
		}
	}
	return w
}

// The client in whose call a server asks is asked. A question that may be of several calls goes to a client only if all
// of them are its own, to the newest that reaches it.
func TestWhichClientIsAsked(t *testing.T) {
	type may = []MayAsk
	type past = []PastClient
	m1, m2 := MayAsk{1, "m", true}, MayAsk{2, "m", true}
	deaf1, deaf2 := MayAsk{1, "m", false}, MayAsk{2, "m", false}
	n2, none2 := MayAsk{2, "n", true}, MayAsk{2, "", true}
	answersNoTools := func(n int, e *RequestMade) {
		e.Answers = event.Kinds{}
		e.Answers.Add(event.PromptSampling, false)
	}
	answersNothing := func(n int, e *RequestMade) { e.Answers = event.Kinds{} }
	asks := func(of event.Audience) func(int, *RequestMade) {
		return func(n int, e *RequestMade) { e.Audience = of }
	}
	m, mm, mn := []string{"m"}, []string{"m", "m"}, []string{"m", "n"}
	for name, row := range map[string]struct {
		clients []string
		alter   func(int, *RequestMade)
		before  []Event
		after   time.Duration
		asked   Asked
		want    who
	}{
		"the only call":           {m, nil, nil, 0, Asked{By: 1, Among: may{m1}}, who{1, true, false}},
		"the call is known":       {mm, nil, nil, 0, Asked{By: 1, Parent: 1}, who{1, true, false}},
		"the second one":          {mm, nil, nil, 0, Asked{By: 1, Parent: 2}, who{2, true, false}},
		"in a round":              {mm, nil, nil, 0, Asked{By: 1, Of: 1}, who{1, true, false}},
		"the hub asks":            {m, nil, nil, 0, Asked{Of: 1, Among: may{m1}}, who{}},
		"nobody made the call":    {[]string{""}, nil, nil, 0, Asked{By: 1, Parent: 1}, who{}},
		"with tools":              {m, nil, nil, 0, Asked{By: 1, Parent: 1, WithTools: true}, who{1, true, false}},
		"no tools":                {m, answersNoTools, nil, 0, Asked{By: 1, Parent: 1, WithTools: true}, who{}},
		"the known answers not":   {m, answersNothing, nil, 0, Asked{By: 1, Parent: 1}, who{}},
		"the only answers not":    {m, answersNothing, nil, 0, Asked{By: 1, Among: may{m1}}, who{}},
		"windows alone":           {m, asks(event.AskWindows), nil, 0, Asked{By: 1, Parent: 1}, who{}},
		"windows, too":            {m, asks(event.AskEither), nil, 0, Asked{By: 1, Parent: 1}, who{1, false, false}},
		"the newest":              {mm, nil, nil, 0, Asked{By: 1, Among: may{m1, m2}}, who{2, true, false}},
		"the newest, named first": {mm, nil, nil, 0, Asked{By: 1, Among: may{m2, m1}}, who{2, true, false}},
		"the heard is older":      {mm, nil, nil, 0, Asked{By: 1, Among: may{m1, deaf2}}, who{1, true, false}},
		"the heard is newer":      {mm, nil, nil, 0, Asked{By: 1, Among: may{deaf1, m2}}, who{2, true, false}},
		"the heard, named first":  {mm, nil, nil, 0, Asked{By: 1, Among: may{m2, deaf1}}, who{2, true, false}},
		"nobody is heard":         {mm, nil, nil, 0, Asked{By: 1, Among: may{deaf2, deaf1}}, who{2, true, false}},
		"one is cancelled": {mm, nil, []Event{RequestGivenUp{2, &event.CancelCause{}}}, 0,
			Asked{By: 1, Among: may{m1, m2}}, who{1, true, false}},
		"of two clients": {mn, nil, nil, 0, Asked{By: 1, Among: may{m1, n2}}, who{0, false, true}},
		"neither answers": {mn, answersNothing, nil, 0, Asked{By: 1, Among: may{m1, n2}},
			who{}},
		"one of no client": {[]string{"m", ""}, nil, nil, 0, Asked{By: 1, Among: may{m1, none2}}, who{}},
		"its own of before": {m, nil, nil, 0, Asked{By: 1, Among: may{m1}, Past: past{{"m", start}}},
			who{1, true, false}},
		"of another one before": {m, nil, nil, 0, Asked{By: 1, Among: may{m1}, Past: past{{"n", start}}},
			who{0, false, true}},
		"of no client before": {m, nil, nil, 0, Asked{By: 1, Among: may{m1}, Past: past{{"", start}}}, who{}},
		"of another one who is gone, and may be read": {m, nil, []Event{ClientGone{"n"}}, cancelReadTime - 1,
			Asked{By: 1, Among: may{m1}, Past: past{{"n", start}}}, who{0, false, true}},
		"of another one who is gone": {m, nil, []Event{ClientGone{"n"}}, cancelReadTime,
			Asked{By: 1, Among: may{m1}, Past: past{{"n", start}}}, who{1, true, false}},
		"of another one who is there, for longer": {m, nil, nil, cancelReadTime,
			Asked{By: 1, Among: may{m1}, Past: past{{"n", start}}}, who{0, false, true}},
		"of two others before": {m, nil, nil, 0, Asked{By: 1, Among: may{m1}, Past: past{{"n", start}, {"m", start}}},
			who{0, false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAsking(t, row.clients, row.alter)
			for _, e := range row.before {
				a.Apply(start, e)
			}
			if got := a.ask(start.Add(row.after), row.asked); got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

// A client that cannot be asked in one call is asked in the course of the others, once in each; then the windows are.
func TestClientThatCannotBeAsked(t *testing.T) {
	for _, of := range []event.Audience{event.AskClient, event.AskEither} {
		a := newAsking(t, []string{"m", "m", "m"}, func(_ int, e *RequestMade) { e.Audience = of })
		among := []MayAsk{{1, "m", true}, {2, "m", true}, {3, "m", true}}
		a.ask(start, Asked{By: 1, OfSome: true, Among: among})
		var got []Effect
		for range 3 {
			got = append(got, a.Apply(start, ClientUnreachable{1, among})...)
		}
		want := []Effect{ClientAsked{1, 2}, ClientAsked{1, 1}}
		if of == event.AskClient {
			want = append(want, PromptShown{1})
		}
		if !slices.Equal(got, want) || a.Hidden(1) {
			t.Errorf("audience %d: got %+v, want %+v", of, got, want)
		}
		if got := a.Apply(start, WindowDetached{Window: "w", Final: true}); len(got) != 2 || a.Open(1) {
			t.Errorf("nobody can answer, and: %+v", got)
		}
	}
}
