package core

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

var update = flag.Bool("update", false, "write what the core orders into the conversations")

// TestConversations plays testdata/*.txt: what people rely on, as events and the effects that follow. A line that
// begins with "#" says what happens, and "at 5s" lets time pass. Any other line is an event: its name and its fields,
// without those that are zero; effects are indented. With -update the effects are written anew.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := converse(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// converse plays a conversation, and returns it with the effects that came.
func converse(t *testing.T, text string) string {
	s, now := New("hub"), start
	var got strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&got, line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if after, is := strings.CutPrefix(line, "at "); is {
			d, err := time.ParseDuration(after)
			if err != nil {
				t.Fatal(err)
			}
			now = start.Add(d)
			continue
		}
		e, err := readEvent(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		compared, _ := e.(Comparing)
		follows := compared.Fits // another event, at once
		for _, effect := range s.Apply(now, e) {
			switch effect.(type) {
			case ClockRanOut, PromptRanOut, EntryReplaced:
				follows = true
			}
			fmt.Fprintf(&got, "  %T%s\n", effect, fields("", reflect.ValueOf(effect)))
		}
		if wrong := s.inconsistent(); wrong != "" && !follows {
			t.Errorf("after %s: %s", line, wrong)
		}
	}
	return strings.ReplaceAll(got.String(), "  core.", "  ")
}

// events are the events that conversations have, by name.
var events = func() map[string]reflect.Type {
	byName := map[string]reflect.Type{}
	for _, e := range []Event{RequestMade{}, Looked{}, Sent{}, AnsweredLate{}, Progressed{}, TaskReported{},
		CallOver{}, StartOver{}, CancelAsked{}, ScopeCancelled{}, RequestGivenUp{}, Asked{}, Followed{}, Answered{},
		TermsSeen{}, ClientUnreachable{}, ClientGone{}, Comparing{}, AnswerRead{}, AskerLeft{}, ConnectionEnded{},
		ServerRemoved{},
		WindowShows{}, WindowDetached{}, Drained{}, RequestTimer{}, PromptTimer{}, TurnTimer{}, WindowTimer{},
		PromptExpired{}, ServerAdded{}, ServerConfigured{}, ServerOutdated{}, InfoChanged{}, StartOrdered{}, StopOrdered{},
		SwitchOrdered{}, ServerWanted{}, WaiterLeft{}, ServerReleased{}, StartAsks{}, ServerEnded{}, LaunchSeen{},
		LaunchLooked{}, ServerStale{}, MoreShown{}, AnswerPossible{}, Unsubscribed{}, ServerTimer{}} {
		byName[reflect.TypeOf(e).Name()] = reflect.TypeOf(e)
	}
	return byName
}()

var word = regexp.MustCompile(`[\w.]+(=("[^"]*"|[^\s("]+(\("[^"]*"\))?))?`)

// readEvent reads an event: Name Field=value Field.Field=value Flag.
func readEvent(line string) (Event, error) {
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
		if err := read(field, strings.Trim(value, `"`)); err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
	}
	return e.Interface().(Event), nil
}

// read sets a field. Kinds of questions are all or none; the cause of a cancel is its origin and its reason.
func read(field reflect.Value, text string) error {
	switch v := field.Addr().Interface().(type) {
	case *bool:
		*v = true
		return nil
	case *time.Duration:
		d, err := time.ParseDuration(text)
		*v = d
		return err
	case *event.Kinds:
		*v = allKinds()
		return nil
	case **event.CancelCause:
		origin, reason, _ := strings.Cut(strings.TrimSuffix(text, `")`), `("`)
		*v = &event.CancelCause{Reason: reason}
		return read(reflect.ValueOf(&(*v).Origin).Elem(), origin)
	case *[]ServerNumber:
		for n := range strings.SplitSeq(text, ",") {
			i, err := strconv.Atoi(n)
			if err != nil {
				return err
			}
			*v = append(*v, ServerNumber(i))
		}
		return nil
	case *[]MayAsk: // request:client
		for one := range strings.SplitSeq(text, ",") {
			n, client, _ := strings.Cut(one, ":")
			i, err := strconv.Atoi(n)
			if err != nil {
				return err
			}
			*v = append(*v, MayAsk{Request: RequestNumber(i), Client: client, Heard: true})
		}
		return nil
	case *[]LaunchEntry: // file?hash of what there is to agree to, file!hash with a consent, file alone: it needs none
		for one := range strings.SplitSeq(text, ",") {
			file, hash, _ := strings.Cut(strings.Replace(one, "!", "?", 1), "?")
			e := LaunchEntry{EntryID: EntryID{File: file}, Held: strings.Contains(one, "!"), Tools: rulesOf{}}
			if hash != "" {
				e.Form = Form{File: file, Hash: hash}
			}
			*v = append(*v, e)
		}
		return nil
	case *string:
		*v = text
		return nil
	}
	if _, named := field.Interface().(fmt.Stringer); named {
		for i := range 40 {
			if set(field, i); valueName(field) == text {
				return nil
			}
		}
		return fmt.Errorf("nothing is called %q", text)
	}
	i, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	set(field, i)
	return nil
}

func set(field reflect.Value, i int) {
	if field.CanInt() {
		field.SetInt(int64(i))
	} else {
		field.SetUint(uint64(i))
	}
}

// valueName returns the word for a value.
func valueName(v reflect.Value) (text string) {
	defer func() {
		if recover() != nil { // no value of its type
			text = ""
		}
	}()
	switch x := v.Interface().(type) {
	case Refusal:
		return [...]string{"", "draining", "id_in_use", "uncancellable", "call_is_over", "unshowable", "needless",
			"out_of_step", "tool_hidden", "tool_denied", "no_approver", "not_for_apps", "unsettled", "entry_gone",
			"entry_read_anew", "launch_declined", "launch_unclear"}[x]
	case event.Outcome:
		return [...]string{"", "cancelling", "already_finished", "unknown"}[x]
	}
	return fmt.Sprint(v.Interface())
}

// fields writes the fields of an effect that are not zero, without what repeats a cancel.
func fields(path string, v reflect.Value) (text string) {
	for i := range v.NumField() {
		f, name := v.Field(i), path+v.Type().Field(i).Name
		if name == "Cancel.Time" || name == "Cause" && v.FieldByName("Cancel").IsValid() {
			continue
		}
		switch x := f.Interface().(type) {
		case *event.CancelCause:
			if x != nil {
				text += fmt.Sprintf(" %s=%v(%q)", name, x.Origin, x.Reason)
			}
			continue
		case time.Time:
			if !x.IsZero() {
				text += fmt.Sprintf(" %s=+%v", name, x.Sub(start))
			}
			continue
		}
		switch {
		case f.IsZero():
		case f.Kind() == reflect.Pointer:
			text += fields(name+".", f.Elem())
		case f.Kind() == reflect.Struct:
			text += fields(name+".", f)
		case f.Kind() == reflect.Bool:
			text += " " + name
		case f.Kind() == reflect.String:
			text += fmt.Sprintf(" %s=%q", name, f.String())
		default:
			text += fmt.Sprintf(" %s=%s", name, valueName(f))
		}
	}
	return text
}
