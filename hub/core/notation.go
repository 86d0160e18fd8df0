package core

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Notation writes events and effects as text, one line each: the name, and the fields that are not zero. It is the form
// of the conversations (testdata/*.txt) and of the flight record in a bug report.
type Notation struct {
	Start time.Time // times are written as what has passed since then
	// A report has neither the reasons of cancels, which people and servers write, nor what names clients, task labels and
	// files, nor hashes: these are numbered. What the core decides depends on which of them are equal alone.
	NoReasons, Numbered bool

	numbers map[string]string
}

// Line returns the line for an event or an effect.
func (n *Notation) Line(what any) string {
	v := reflect.ValueOf(what)
	return v.Type().Name() + n.fields("", v)
}

// fields returns the fields of a struct, without what repeats the cancel of an effect.
func (n *Notation) fields(path string, of reflect.Value) (text string) {
	for i := range of.NumField() {
		f, name := of.Field(i), path+of.Type().Field(i).Name
		switch {
		case f.IsZero(), name == "Cancel.Time", name == "Cause" && of.FieldByName("Cancel").IsValid(),
			n.NoReasons && strings.HasSuffix(name, "Reason"):
			continue
		case f.Kind() == reflect.Bool:
			text += " " + name
			continue
		}
		if value, simple := n.value(of.Type().Field(i).Name, f); simple {
			text += " " + name + "=" + value
			continue
		}
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		text += n.fields(name+".", f)
	}
	return text
}

// value returns the text of a field. simple is false for a struct whose fields are written one by one.
func (n *Notation) value(name string, f reflect.Value) (_ string, simple bool) {
	switch x := f.Interface().(type) {
	case *event.CancelCause:
		if n.NoReasons {
			return x.Origin.String(), true
		}
		return x.Origin.String() + "(" + strconv.Quote(x.Reason) + ")", true
	case time.Time:
		return "+" + x.Sub(n.Start).String(), true
	case MayAsk: // 3:client, or 3:client:unreachable
		reached := ":unreachable"
		if x.Heard {
			reached = ""
		}
		return strconv.FormatUint(uint64(x.Request), 10) + ":" + n.number("Client", x.Client) + reached, true
	case PastClient: // client:+2s
		return n.number("Client", x.Client) + ":+" + x.Cancelled.Sub(n.Start).String(), true
	case LaunchEntry:
		// file#launch, and then ?hash of what there is to agree to, or !hash if somebody has, and &rule@line@policy that
		// refuses it
		text := n.number("File", x.File)
		if x.Launch != "" {
			text += "#" + n.number("Launch", x.Launch)
		}
		switch hash := n.number("Hash", x.Form.Hash); {
		case x.Form == Form{}:
		case x.Held:
			text += "!" + hash
		default:
			text += "?" + hash
		}
		if r := x.Refusal; r != nil {
			text += "&" + r.Rule + "@" + strconv.Itoa(r.Line) + "@" + n.number("File", r.From)
		}
		return text, true
	case *event.LaunchRefusal:
		return strconv.Quote(x.Rule), true
	case interface{ String() string }:
		return x.String(), true
	}
	switch {
	case f.Kind() == reflect.String:
		return strconv.Quote(n.number(name, f.String())), true
	case f.Kind() == reflect.Slice:
		list := make([]string, f.Len())
		for i := range list {
			list[i], _ = n.value("", f.Index(i))
		}
		return strings.Join(list, ","), true
	case f.CanInt():
		return strconv.FormatInt(f.Int(), 10), true
	case f.CanUint():
		return strconv.FormatUint(f.Uint(), 10), true
	}
	return "", false
}

// number returns a text that stands in a report for the text of a field, if that is not to be in it.
func (n *Notation) number(field, text string) string {
	switch field {
	case "Client", "Label", "File", "Launch", "Hash", "Definition":
		if !n.Numbered || text == "" {
			return text
		}
	default:
		return text
	}
	key := field + text
	if n.numbers[key] == "" {
		if n.numbers == nil {
			n.numbers = map[string]string{}
		}
		n.numbers[key] = strings.ToLower(field) + "-" + strconv.Itoa(len(n.numbers)+1)
	}
	return n.numbers[key]
}
