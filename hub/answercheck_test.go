package hub

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/schema"
)

func fits(json.RawMessage) schema.Verdict { return schema.Verdict{} }

// wantRefused checks that an error refuses an answer for this reason, and that its text is bounded.
func wantRefused(t *testing.T, err error, reason, text string) {
	t.Helper()
	e := event.AsError(err)
	if err == nil || e.Code != event.CodeInvalidArgument || e.Reason != reason || !strings.Contains(e.Message, text) ||
		e.Meta["prompt_id"] != "p1" || len(e.Message) > 4<<10 {
		t.Errorf("error %v; want %s: %s", err, reason, text)
	}
}

func TestAnswerIsAYesANoOrNothing(t *testing.T) {
	for action := event.ActionAccept; action <= event.ActionDismiss; action++ {
		if err := checkAction(event.PromptAnswer{PromptID: "p1", Action: action}); err != nil {
			t.Error(err)
		}
	}
	for _, action := range []event.Action{0, event.ActionDismiss + 1, -1, 1 << 30} {
		wantRefused(t, checkAction(event.PromptAnswer{PromptID: "p1", Action: action}), event.ReasonInvalidRequest,
			"accepts, declines or dismisses")
	}
}

const sample = `{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`

// What the content of an accept has to be depends on the kind.
func TestContentFitsItsKind(t *testing.T) {
	input := &event.InputQuestion{InputID: "token", Options: []event.InputOption{{Value: "a"}}}
	long := strings.Repeat("x", 10<<10)
	for name, row := range map[string]struct {
		kind    event.PromptKind
		content string
		wrong   string // "": it fits
	}{
		"approval":                       {event.PromptToolApproval, "", ""},
		"launch":                         {event.PromptServerLaunch, "", ""},
		"launch with content":            {event.PromptServerLaunch, `{}`, "has no content"},
		"option":                         {event.PromptConfigInput, `"a"`, ""},
		"no option":                      {event.PromptConfigInput, `"b"`, "none of the options"},
		"no value":                       {event.PromptConfigInput, ``, "a JSON string"},
		"sample":                         {event.PromptSampling, sample, ""},
		"sample, blanks and more around": {event.PromptSampling, " {\"x\":1," + sample[1:] + "\n", ""},
		"sample of several blocks":       {event.PromptSampling, `{"role":"assistant","content":[],"model":"m"}`, ""},
		"no sample":                      {event.PromptSampling, ``, "is a JSON object"},
		"sample cut short":               {event.PromptSampling, sample[:20], "is a JSON object"},
		"sample and more":                {event.PromptSampling, sample + sample, "is a JSON object"},
		"sample that is a list":          {event.PromptSampling, `[` + sample + `]`, "is a JSON object"},
		"sample that is null":            {event.PromptSampling, `null`, "is a JSON object"},
		"sample without role":            {event.PromptSampling, `{"content":{},"model":"m"}`, "needs role"},
		"sample without model":           {event.PromptSampling, `{"role":"a","content":{}}`, "needs role"},
		"sample without content":         {event.PromptSampling, `{"role":"a","model":"m"}`, "needs role"},
		"sample with content null":       {event.PromptSampling, `{"role":"a","content":null,"model":"m"}`, "needs role"},
		"sample with empty role":         {event.PromptSampling, `{"role":"","content":{},"model":"m"}`, "needs role"},
		"sample with a number for model": {event.PromptSampling, `{"role":"a","content":{},"model":1}`, "needs role"},
		"names are exact":                {event.PromptSampling, `{"Role":"a","CONTENT":{},"Model":"m"}`, "needs role"},
		"a member of a sample twice": {event.PromptSampling, `{"role":"user",` + sample[1:],
			`has the member "role" twice`},
		"a member twice, deep in": {event.PromptSampling,
			`{"role":"a","content":{"type":"text","text":"shown","text":"sent"},"model":"m"}`, `has the member "text" twice`},
		"form":                       {event.PromptElicitationForm, `{"a":1}`, ""},
		"form that is a list":        {event.PromptElicitationForm, `[]`, "is a JSON object"},
		"form that is none":          {event.PromptElicitationForm, ``, "is a JSON object"},
		"form cut short":             {event.PromptElicitationForm, `{"a":`, "is a JSON object"},
		"a member of a form twice":   {event.PromptElicitationForm, `{"a":1,"\u0061":2}`, `has the member "a" twice`},
		"a long member twice":        {event.PromptElicitationForm, `{"` + long + `":1,"` + long + `":2}`, "twice"},
		"a page needs no content":    {event.PromptElicitationURL, "", ""},
		"a sign-in needs no content": {event.PromptSignIn, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &event.PromptInfo{ID: "p1", Kind: row.kind, Input: input}
			_, err := checkContent(p, event.PromptAnswer{Action: event.ActionAccept, Content: row.content}, fits)
			if row.wrong != "" {
				wantRefused(t, err, event.ReasonInvalidContent, row.wrong)
			} else if err != nil {
				t.Error(err)
			}
			for _, no := range []event.Action{event.ActionDecline, event.ActionDismiss} {
				if _, err := checkContent(p, event.PromptAnswer{Action: no, Content: row.content}, nil); err != nil {
					t.Errorf("a no was refused for its content: %v", err)
				}
			}
		})
	}
}

// A form is compared with its schema only when it is an object; what the comparison says is passed on.
func TestFormIsCompared(t *testing.T) {
	p := &event.PromptInfo{ID: "p1", Kind: event.PromptElicitationForm}
	yes := event.PromptAnswer{Action: event.ActionAccept, Content: `{"age":-1}`}
	_, err := checkContent(p, yes, func(value json.RawMessage) schema.Verdict {
		if string(value) != yes.Content {
			t.Errorf("%s was compared", value)
		}
		return schema.Verdict{Violation: "age is below 0"}
	})
	wantRefused(t, err, event.ReasonInvalidContent, "age is below 0")
	unchecked, err := checkContent(p, yes, func(json.RawMessage) schema.Verdict {
		return schema.Verdict{NotChecked: "a dialect that is not known"}
	})
	if err != nil || unchecked != "a dialect that is not known" {
		t.Errorf("unchecked %q, error %v", unchecked, err)
	}
	yes.Content = `[]`
	_, err = checkContent(p, yes, func(json.RawMessage) schema.Verdict {
		t.Error("what is no object was compared")
		return schema.Verdict{}
	})
	wantRefused(t, err, event.ReasonInvalidContent, "is a JSON object")
	for kind := event.PromptToolApproval; kind <= event.PromptConfigInput; kind++ {
		want := kind == event.PromptElicitationForm || kind == event.PromptSampling
		if comparesContent(kind) != want {
			t.Errorf("%s: Compared is %v", kind, !want)
		}
	}
}

// Edited params are for a host that runs the model: the hub refuses them.
func TestEditedParamsAreRefused(t *testing.T) {
	p := &event.PromptInfo{ID: "p1", Kind: event.PromptSampling}
	_, err := checkContent(p, event.PromptAnswer{Action: event.ActionAccept, Content: sample, Edited: `{}`}, fits)
	wantRefused(t, err, event.ReasonInvalidContent, "request_json")
}

func TestAnswerIsBounded(t *testing.T) {
	p := &event.PromptInfo{ID: "p1", Kind: event.PromptSampling}
	if err := checkAnswerSize(p, event.PromptAnswer{Content: strings.Repeat("x", bounds.AnswerBytes)}); err != nil {
		t.Error(err)
	}
	err := checkAnswerSize(p, event.PromptAnswer{Content: strings.Repeat("x", bounds.AnswerBytes+1)})
	wantRefused(t, err, event.ReasonInvalidContent, "its content has 8.1 MiB, and may have 8 MiB")
}
