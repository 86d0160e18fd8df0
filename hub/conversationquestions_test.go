package hub_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
)

// promptWords tells what is asked.
func promptWords(p *event.PromptInfo) string {
	text := fmt.Sprintf("%s opens: %s of %s", p.ID, p.Kind, p.RequestID)
	switch q := p.Question; {
	case p.Approval != nil:
		text = fmt.Sprintf("%s opens: call %s %s %s of %s", p.ID, p.Server, p.Approval.Tool.Name, p.Approval.Arguments,
			p.RequestID) + changeWords(p.Approval.Changes)
	case p.Launch != nil:
		if text = p.ID + " opens: launch " + p.Server; p.Launch.Changed {
			text += ", which has changed"
		}
		if p.Launch.WrittenBy != "" {
			text += ", written by " + p.Launch.WrittenBy
		}
		text += changeWords(p.Launch.Changes)
	case p.Input != nil:
		text = p.ID + " opens: value of " + p.Input.InputID + ", for " + p.Server
	case p.SignIn != nil:
		if text = p.ID + " opens: sign in to " + p.Server; p.SignIn.Waiting {
			text += ", in the browser now"
		}
	case q != nil:
		if !slices.ContainsFunc([]string{"sampling", "form", "url"}, func(kind string) bool {
			_, params := question(kind)
			return string(q.Payload) == params
		}) {
			text += " with " + string(q.Payload)
		}
		if q.URL != "" {
			text += fmt.Sprintf(", %s at %s (%s)", q.Message, q.URLHost, q.URL)
			if q.Waiting {
				text += ", waiting for the page"
			}
		}
	}
	if !p.Deadline.IsZero() {
		text += ", for " + p.Deadline.Sub(p.Open).String()
	}
	return text
}

func changeWords(changes []event.DefinitionChange) (text string) {
	for _, c := range changes {
		text += fmt.Sprintf("; %s: %s -> %s", c.Path, cmp.Or(c.Before, "nothing"), cmp.Or(c.After, "nothing"))
	}
	return text
}

// showQuestion says all of a question.
func (s *stage) showQuestion(p event.PromptInfo) {
	switch {
	case p.Launch != nil:
		l := *p.Launch
		l.Hash = ""
		s.fields(l)
	case p.Input != nil:
		s.fields(*p.Input)
	case p.SignIn != nil:
		q := *p.SignIn
		q.URL = ""
		s.fields(q)
	case p.Approval != nil:
		s.say("Definition: %s", p.Approval.Tool.Definition)
		if p.Approval.Previous != "" {
			s.say("Previous: %s", p.Approval.Previous)
		}
	}
	if !p.Deadline.IsZero() {
		s.say("answer within %v", p.Deadline.Sub(p.Open))
	}
	for _, r := range s.hub.Requests("") {
		if r.ID == p.RequestID {
			s.say("shown as %s %s, %s", r.Method, r.Subject, r.State)
		}
	}
}

// fields says the fields of a struct that have a value.
func (s *stage) fields(of any) {
	v := reflect.ValueOf(of)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() && (f.Kind() != reflect.Slice || f.Len() > 0) {
			switch f.Kind() {
			case reflect.String:
				s.say("%s: %s", v.Type().Field(i).Name, f)
			case reflect.Slice:
				if all, are := f.Interface().([]event.LaunchVariable); are {
					s.say("Env: %s", variableWords(all))
					continue
				}
				s.say("%s: %s", v.Type().Field(i).Name, strings.Trim(fmt.Sprintf("%+q", f.Interface()), "[]"))
			default:
				s.say("%s: %v", v.Type().Field(i).Name, f)
			}
		}
	}
}

func variableWords(all []event.LaunchVariable) string {
	var words []string
	for _, v := range all {
		word := v.Name + "=" + v.Value
		if v.Unset {
			word = v.Name + " (unset)"
		}
		if v.LoadsCode {
			word += " (loads code)"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}
