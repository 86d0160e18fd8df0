package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/session"
	"github.com/mcphub-go/mcphub/internal/cli/toolargs"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// maxChoices bounds how many choices are listed. A name that is not listed can still be typed.
const maxChoices = 200

// form lets a person on a terminal choose what the command line does not name: the server, the tool, and its arguments.
// It belongs to one goroutine, and no other may read the input while it runs.
type form struct {
	console.Streams
	ask func(question string) (string, error) // asks for a typed line
}

// wantsForm reports whether a person is to choose the tool: there is a terminal, and the command line names no tool.
func (o *options) wantsForm() bool {
	return o.command == "call" && o.target == "" && !o.json && o.Interactive()
}

// fillForm asks the person. It gets the tools from a hub that it closes before the first question: nothing runs while
// the person thinks, and Ctrl-C can end the process at once.
func (o *options) fillForm() error {
	if err := o.Flags.Check(); err != nil {
		return exit.Wrong(err)
	}
	f := &form{Streams: o.Streams}
	if k := console.NewKeyboard(o.Streams); k != nil {
		f.ask = k.Ask
		o.Say("Esc goes back, Ctrl-C leaves; nothing is called before the last answer.")
	} else {
		t := console.NewTypist(o.In)
		defer t.Close()
		f.ask = func(question string) (string, error) {
			line := t.Ask(o.Err, question, false)
			if line.Over {
				return "", console.ErrOver
			}
			return line.Text, nil
		}
		o.Say("Ctrl-C leaves; nothing is called before the last answer.")
	}
	err := f.choices(o)
	switch {
	case errors.Is(err, console.ErrBack), errors.Is(err, console.ErrLeft):
		o.Say("nothing was called")
		return exit.Cancelled
	case err == nil && o.Single() != "":
		o.server = "" // the flags that describe the server suffice
	}
	return err
}

// choices asks for the server, if there are several, and for the rest with its tools.
func (f *form) choices(o *options) (err error) {
	names := o.ServerNames()
	several := o.server == "" && len(names) > 1
	for {
		if several {
			o.server, err = f.choose("Server", names, nil)
		} else if o.server == "" {
			o.server, err = o.Choose()
		}
		if err != nil {
			return exit.Wrong(err)
		}
		tools, err := o.listTools()
		if err != nil {
			return err
		}
		if err = f.fill(o, tools); !several || !errors.Is(err, console.ErrBack) {
			return exit.Wrong(err)
		}
	}
}

// listTools returns the tools of the server, which it gets from a hub that it then closes.
func (o *options) listTools() (tools []*mcphubv1.Tool, err error) {
	list := session.Options{Factory: o.Factory, Flags: o.Flags, Answers: o.answers}
	err = list.With("mcphub call", o.server, func(ctx context.Context, client *door.Client) error {
		r, err := client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: o.server})
		tools = r.GetTools()
		return err
	})
	return tools, err
}

// fill chooses a tool and sets its arguments. It prints a command line for the same call.
func (f *form) fill(o *options, tools []*mcphubv1.Tool) (err error) {
	if len(tools) == 0 {
		return fmt.Errorf("server %q has no tools", o.server)
	}
	names := make([]string, len(tools))
	abouts := make([]string, len(tools))
	for i, t := range tools {
		names[i], abouts[i] = t.GetName(), console.About(t.GetTitle(), t.GetDescription())
	}
	for asks := o.args == "" && len(o.pairs) == 0; ; {
		if o.target, err = f.choose("Tool", names, abouts); err != nil {
			return err
		}
		tool, err := toolargs.FindTool(tools, o.server, o.target)
		if err != nil {
			return err
		}
		if !asks {
			break
		}
		schema := toolargs.Read(tool.GetDefinitionJson())
		if o.pairs, err = f.arguments(&schema, ""); errors.Is(err, console.ErrBack) {
			continue
		} else if err != nil {
			return err
		}
		if o.args, err = toolargs.WithPairs("", o.pairs, &schema); err != nil {
			return err
		}
		break
	}
	f.Say("\nThe same again:\n  %s\n", o.CallLine(o.server, o.target, o.pairs))
	o.pairs = nil // args has them now
	return nil
}

// choose lists names with numbers, and accepts a number, a name, or a part of names. A part narrows the list, or
// chooses the name if there is only one with this part.
func (f *form) choose(what string, names, abouts []string) (string, error) {
	all := make([]int, len(names))
	for i := range names {
		all[i] = i
	}
	f.list(names, abouts, all)
	for {
		typed, err := f.ask(what + " (number, name or part of it):")
		if err != nil {
			return "", err
		}
		typed = strings.TrimSpace(typed)
		if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(names) {
			return names[n-1], nil
		}
		if slices.Contains(names, typed) {
			return typed, nil
		}
		var fit []int
		for i, n := range names {
			if strings.Contains(strings.ToLower(n), strings.ToLower(typed)) {
				fit = append(fit, i)
			}
		}
		switch {
		case len(fit) == 1 && typed != "":
			f.Say("  %s", console.Escape(console.ShortName(names[fit[0]])))
			return names[fit[0]], nil
		case len(fit) > 0:
			f.list(names, abouts, fit)
		default:
			f.Say("  %s", console.Escape("there is no "+strconv.Quote(typed)+event.Hint(typed, names)))
		}
	}
}

// list shows the names with the given indexes, each with its number.
func (f *form) list(names, abouts []string, places []int) {
	width := console.PageWidth(f.Err)
	shown := places[:min(len(places), maxChoices)]
	column := 0
	for _, i := range shown {
		column = max(column, console.ColumnsOf(console.Escape(console.ShortName(names[i]))))
	}
	column = min(column, width/2)
	for _, i := range shown {
		line := fmt.Sprintf("%4d  %-*s", i+1, column, console.Escape(console.ShortName(names[i])))
		if abouts != nil {
			line += "  " + console.Escape(abouts[i])
		}
		f.Say("%s", strings.TrimRight(console.CutColumns(line, width-1), " "))
	}
	if n := len(places) - len(shown); n > 0 {
		f.Say("      and %d more: type a part of the name", n)
	}
}

// arguments asks for each argument of a schema. Enter alone leaves out an argument that is not required. If a question
// returns ErrBack, the one before is asked again; for the first question, arguments returns ErrBack.
func (f *form) arguments(schema *toolargs.Argument, prefix string) ([]string, error) {
	given := make([]string, len(schema.Properties))
	for i := 0; i < len(given); {
		pair, err := f.argument(&schema.Properties[i], prefix)
		switch {
		case err == nil:
			given[i] = pair
			i++
		case errors.Is(err, console.ErrBack) && i > 0:
			i--
		default:
			return nil, err
		}
	}
	var pairs []string
	for _, pair := range given {
		if pair != "" {
			pairs = append(pairs, pair)
		}
	}
	return pairs, nil
}

// argument asks for one argument, and returns it as NAME=VALUE, or "" if it is left out.
func (f *form) argument(a *toolargs.Argument, prefix string) (string, error) {
	name := prefix + a.Name
	if a.Description != "" {
		f.Tell("  %s", console.Escape(console.Cut(strings.Join(strings.Fields(a.Description), " "), 300)))
	}
	choices := a.Choices()
	for i, c := range choices[:min(len(choices), maxChoices)] {
		f.Say("%4d  %s", i+1, console.Escape(console.Cut(c, 100)))
	}
	question := name + " (" + a.Wants()
	if len(choices) > 0 {
		question = name + " (number or value"
	}
	switch {
	case a.Def != "":
		question += ", default " + console.Cut(a.Def, 60)
	case !a.Required:
		question += ", Enter leaves it out"
	}
	for {
		typed, err := f.ask(console.Escape(question) + "):")
		if err != nil {
			return "", err
		}
		typed = a.Choice(typed)
		if typed == "" && (!a.Required || a.Def != "") {
			if a.Required {
				return name + "=" + a.Example(), nil
			}
			return "", nil
		}
		if _, ok := a.Read(typed); ok {
			return name + "=" + typed, nil
		}
		f.Tell("  %s", console.Escape("the schema wants "+a.Wants()+event.Hint(typed, a.Choices())))
	}
}
