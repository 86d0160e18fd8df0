// Package conversation plays events to the core that are written in its notation (core.Notation): those of
// hub/core/testdata/*.txt, which say what people rely on, and the flight records of hubs.
package conversation

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// ErrPartial is returned for a flight record that does not begin with its hub: nobody knows what was open before.
var ErrPartial = errors.New("the record does not begin with its hub")

// Play plays a conversation, and returns it with the effects that came. A line that begins with "#" says what happens,
// "at 5s" lets time pass, and "hub MARK" is the beginning of a flight record. Any other line is an event: its name and
// its fields, without those that are zero; effects are indented. After each event that no other one has to follow at
// once, settled is called, unless it is nil.
func Play(text string, settled func(s *core.State, line string)) (string, error) {
	start := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	s, now, write := core.New("hub"), start, core.Notation{Start: start}
	var got strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&got, line)
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "", "#":
			continue
		case "at":
			d, err := time.ParseDuration(rest)
			if err != nil {
				return "", err
			}
			now = start.Add(d)
			continue
		case "hub":
			mark, partial, _ := strings.Cut(rest, " ")
			if partial != "" {
				return "", ErrPartial
			}
			s, write.NoReasons = core.New(mark), true
			continue
		}
		e, err := read(line, start)
		if err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
		compared, _ := e.(core.Comparing)
		follows := compared.Fits // another event, at once
		for _, effect := range s.Apply(now, e) {
			switch effect.(type) {
			case core.ClockRanOut, core.PromptRanOut, core.EntryReplaced:
				follows = true
			}
			fmt.Fprintf(&got, "  %s\n", write.Line(effect))
		}
		if settled != nil && !follows {
			settled(s, line)
		}
	}
	return got.String(), nil
}

// events are all events, by name.
var events = func() map[string]reflect.Type {
	byName := map[string]reflect.Type{}
	for _, e := range []core.Event{core.RequestMade{}, core.Looked{}, core.Sent{}, core.AnsweredLate{},
		core.Progressed{}, core.TaskReported{}, core.CallOver{}, core.StartOver{}, core.CancelAsked{},
		core.ScopeCancelled{}, core.RequestGivenUp{}, core.Asked{}, core.Followed{}, core.Answered{}, core.TermsSeen{},
		core.ClientUnreachable{}, core.ClientGone{}, core.Comparing{}, core.AnswerRead{}, core.AskerLeft{},
		core.ConnectionEnded{}, core.ServerRemoved{}, core.WindowShows{}, core.WindowDetached{}, core.Drained{},
		core.RequestTimer{}, core.PromptTimer{}, core.TurnTimer{}, core.WindowTimer{}, core.PromptExpired{},
		core.ServerAdded{}, core.ServerConfigured{}, core.ServerOutdated{}, core.InfoChanged{}, core.StartOrdered{},
		core.StopOrdered{}, core.SwitchOrdered{}, core.ServerWanted{}, core.WaiterLeft{}, core.ServerReleased{},
		core.StartAsks{}, core.ServerEnded{}, core.LaunchSeen{}, core.LaunchLooked{}, core.ServerStale{}, core.MoreShown{},
		core.AnswerPossible{}, core.Unsubscribed{}, core.ServerTimer{}} {
		byName[reflect.TypeOf(e).Name()] = reflect.TypeOf(e)
	}
	return byName
}()

var word = regexp.MustCompile(`[\w.]+(=("(\\.|[^"\\])*"|[^\s("]*(\("(\\.|[^"\\])*"\))?))?`)

// read reads an event: Name Field=value Field.Field=value Flag.
func read(line string, start time.Time) (core.Event, error) {
	words := word.FindAllString(line, -1)
	kind, known := events[words[0]]
	if !known {
		return nil, fmt.Errorf("no event is called %s", words[0])
	}
	e := reflect.New(kind).Elem()
	for _, w := range words[1:] {
		path, value, _ := strings.Cut(w, "=")
		field := e
		for name := range strings.SplitSeq(path, ".") {
			if field.Kind() == reflect.Pointer {
				if field.IsNil() {
					field.Set(reflect.New(field.Type().Elem()))
				}
				field = field.Elem()
			}
			if field = field.FieldByName(name); !field.IsValid() {
				return nil, fmt.Errorf("no field %s", path)
			}
		}
		if err := set(field, value, start); err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
	}
	return e.Interface().(core.Event), nil
}

// set sets a field to the value that the text stands for.
func set(field reflect.Value, text string, start time.Time) (err error) {
	switch v := field.Addr().Interface().(type) {
	case *bool:
		*v = true
		return nil
	case *string:
		if *v = text; strings.HasPrefix(text, `"`) {
			*v, err = strconv.Unquote(text)
		}
		return err
	case *time.Duration:
		*v, err = time.ParseDuration(text)
		return err
	case *time.Time:
		d, err := time.ParseDuration(strings.TrimPrefix(text, "+"))
		*v = start.Add(d)
		return err
	case *event.Kinds:
		return setKinds(v, text)
	case **event.CancelCause: // origin("reason"), or the origin alone
		origin, reason, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		*v = &event.CancelCause{}
		if err := set(reflect.ValueOf(&(*v).Reason).Elem(), reason, start); err != nil {
			return err
		}
		return set(reflect.ValueOf(&(*v).Origin).Elem(), origin, start)
	case *core.MayAsk:
		n, client, _ := strings.Cut(text, ":")
		v.Client, v.Heard = strings.CutSuffix(client, ":unreachable")
		v.Heard = !v.Heard
		return set(reflect.ValueOf(&v.Request).Elem(), n, start)
	case *core.PastClient:
		client, at, _ := strings.Cut(text, ":")
		v.Client = client
		return set(reflect.ValueOf(&v.Cancelled).Elem(), at, start)
	case *core.LaunchEntry:
		if entry, by, refused := strings.Cut(text, "&"); refused {
			rule, place, _ := strings.Cut(by, "@")
			line, from, _ := strings.Cut(place, "@")
			text, v.Refusal = entry, &event.LaunchRefusal{Rule: rule, From: from}
			v.Refusal.Line, _ = strconv.Atoi(line)
		}
		if i := strings.IndexAny(text, "?!"); i >= 0 {
			v.Held, v.Form.Hash, text = text[i] == '!', text[i+1:], text[:i]
		}
		v.File, v.Launch, _ = strings.Cut(text, "#")
		if v.Form.Hash != "" {
			v.Form.File = v.File
		}
		return nil
	case interface{ String() string }:
		return setWord(field, text)
	}
	if field.Kind() == reflect.Slice {
		field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		for one := range strings.SplitSeq(text, ",") {
			if text == "" {
				break
			}
			item := reflect.New(field.Type().Elem()).Elem()
			if err := set(item, one, start); err != nil {
				return err
			}
			field.Set(reflect.Append(field, item))
		}
		return nil
	}
	i, err := strconv.ParseInt(text, 10, 64)
	setInt(field, i)
	return err
}

func setKinds(k *event.Kinds, text string) error {
	words := strings.Split(text, ",")
	for kind := event.PromptToolApproval; kind <= event.PromptConfigInput; kind++ {
		for _, w := range words {
			if w == "all" || w == kind.String() {
				k.Add(kind, strings.Contains(text, "sampling_tools") || w == "all")
			}
		}
	}
	if k.String() != text {
		return fmt.Errorf("%q are no kinds of questions", text)
	}
	return nil
}

// setWord sets a field to the value whose name is text.
func setWord(field reflect.Value, text string) error {
	named := func() (is bool) {
		defer func() { _ = recover() }() // there is no such value of its type
		return fmt.Sprint(field.Interface()) == text
	}
	for i := range int64(40) {
		if setInt(field, i); named() {
			return nil
		}
	}
	return fmt.Errorf("nothing is called %q", text)
}

func setInt(field reflect.Value, i int64) {
	if field.CanInt() {
		field.SetInt(i)
	} else {
		field.SetUint(uint64(i))
	}
}
