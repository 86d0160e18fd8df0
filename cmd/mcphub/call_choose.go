package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/nearmiss"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// errNothingChosen is returned if the person ended the input of a form.
var errNothingChosen = errors.New("nothing was chosen")

// maxChoices bounds how many choices are listed. A name that is not listed can still be typed.
const maxChoices = 200

// form lets a person on a terminal choose what the command line does not name: the server, the tool, and its arguments.
// It belongs to one goroutine, and no other may read the input while it runs.
type form struct {
	env environment
	ask func(question string) (string, error) // asks for a typed line
}

// wantsForm reports whether a person is to choose the tool: there is a terminal, and the command line names no tool.
func (o *callOptions) wantsForm(env environment) bool {
	return o.command == "call" && o.tool == "" && !o.json && env.interactive()
}

// fillForm asks the person. It gets the tools from a hub that it closes before the first question: nothing runs while
// the person thinks, and Ctrl-C can end the process at once.
func (o *callOptions) fillForm(env environment) (status int) {
	if err := o.sourceFlags.check(); err != nil {
		return usageError(env, "call", err)
	}
	f := &form{env: env}
	if k := newKeyboard(env); k != nil {
		f.ask = k.ask
		env.say("Esc goes back, Ctrl-C leaves; nothing is called before the last answer.")
	} else {
		t := newTypist(env.stdin)
		defer t.close()
		f.ask = func(question string) (string, error) {
			sign(env.stderr, question)
			t.want(false)
			line := <-t.lines
			if line.over {
				return "", errNothingChosen
			}
			return line.text, nil
		}
		env.say("Ctrl-C leaves; nothing is called before the last answer.")
	}
	names, asked := serverNames(&o.sourceFlags), false
	for {
		if asked = asked || o.server == "" && len(names) > 1; asked {
			server, err := f.choose("Server", names, nil)
			if err != nil {
				return leftForm(env, err)
			}
			o.server = server
		}
		if o.server == "" {
			server, err := o.choose()
			if err != nil {
				return usageError(env, "call", err)
			}
			o.server = server
		}
		tools, status := o.listTools(env)
		if status != exitOK {
			return status
		}
		err := f.fill(o, tools)
		if asked && errors.Is(err, errBack) {
			continue
		}
		if err != nil {
			return leftForm(env, err)
		}
		break
	}
	if o.single() != "" {
		o.server = "" // the flags that describe the server suffice
	}
	return exitOK
}

// leftForm returns the exit status for a form that was not filled.
func leftForm(env environment, err error) int {
	if errors.Is(err, errBack) || errors.Is(err, errLeft) {
		env.say("nothing was called")
		return exitCancelled
	}
	return usageError(env, "call", err)
}

// listTools returns the tools of the server, which it gets from a hub that it then closes.
func (o *callOptions) listTools(env environment) (tools []*mcphubv1.Tool, status int) {
	list := listOptions{sourceFlags: o.sourceFlags, answers: o.answers}
	status = list.withHub(env, "call", o.server, func(ctx context.Context, client *hubClient) int {
		r, err := client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: o.server})
		if err != nil {
			return list.fail(env, "call", ctx, err)
		}
		tools = r.GetTools()
		return exitOK
	})
	return tools, status
}

// fill chooses a tool and sets its arguments. It prints a command line for the same call.
func (f *form) fill(o *callOptions, tools []*mcphubv1.Tool) (err error) {
	if len(tools) == 0 {
		return fmt.Errorf("server %q has no tools", o.server)
	}
	names := make([]string, len(tools))
	abouts := make([]string, len(tools))
	for i, t := range tools {
		names[i], abouts[i] = t.GetName(), about(t.GetTitle(), t.GetDescription())
	}
	asks := o.args == "" && len(o.pairs) == 0
	for {
		if o.tool, err = f.choose("Tool", names, abouts); err != nil {
			return err
		}
		tool, err := findTool(tools, o.server, o.tool)
		if err != nil {
			return err
		}
		if !asks {
			break
		}
		schema := readToolArguments(tool.GetDefinitionJson())
		if o.pairs, err = f.arguments(&schema, ""); errors.Is(err, errBack) {
			continue
		} else if err != nil {
			return err
		}
		if o.args, err = withPairs("", o.pairs, &schema); err != nil {
			return err
		}
		break
	}
	words := append([]string{"mcphub", "call"}, o.sourceFlags.words(o.server)...)
	words = append(words, named("--tool", o.tool)...)
	for _, p := range o.pairs {
		words = append(words, "-a", p)
	}
	o.pairs = nil // args has them now
	f.env.say("\nThe same again:\n  %s\n", shellLine(words))
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
			f.env.say("  %s", escape(shortName(names[fit[0]])))
			return names[fit[0]], nil
		case len(fit) > 0:
			f.list(names, abouts, fit)
		default:
			f.env.say("  %s", escape("there is no "+strconv.Quote(typed)+nearmiss.Hint(typed, names)))
		}
	}
}

// list shows the names with the given indexes, each with its number.
func (f *form) list(names, abouts []string, places []int) {
	width := helpWidth(f.env.stderr)
	shown := places[:min(len(places), maxChoices)]
	column := 0
	for _, i := range shown {
		column = max(column, columnsOf(escape(shortName(names[i]))))
	}
	column = min(column, width/2)
	for _, i := range shown {
		line := fmt.Sprintf("%4d  %-*s", i+1, column, escape(shortName(names[i])))
		if abouts != nil {
			line += "  " + escape(abouts[i])
		}
		f.env.say("%s", strings.TrimRight(cutColumns(line, width-1), " "))
	}
	if n := len(places) - len(shown); n > 0 {
		f.env.say("      and %d more: type a part of the name", n)
	}
}

// arguments asks for each argument of a schema. Enter alone leaves out an argument that is not required. If a question
// returns errBack, the one before is asked again; for the first question, arguments returns errBack.
func (f *form) arguments(schema *argument, prefix string) ([]string, error) {
	given := make([]string, len(schema.properties))
	for i := 0; i < len(given); {
		pair, err := f.argument(&schema.properties[i], prefix)
		switch {
		case err == nil:
			given[i] = pair
			i++
		case errors.Is(err, errBack) && i > 0:
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
func (f *form) argument(a *argument, prefix string) (string, error) {
	name := prefix + a.name
	if a.description != "" {
		f.env.tell("  %s", escape(cut(strings.Join(strings.Fields(a.description), " "), 300)))
	}
	choices := a.choices()
	for i, c := range choices[:min(len(choices), maxChoices)] {
		f.env.say("%4d  %s", i+1, escape(cut(c, 100)))
	}
	question := name + " (" + a.wants()
	if len(choices) > 0 {
		question = name + " (number or value"
	}
	switch {
	case a.def != "":
		question += ", default " + cut(a.def, 60)
	case !a.required:
		question += ", Enter leaves it out"
	}
	for {
		typed, err := f.ask(escape(question) + "):")
		if err != nil {
			return "", err
		}
		typed = a.choice(typed)
		if typed == "" && (!a.required || a.def != "") {
			if a.required {
				return name + "=" + a.example(), nil
			}
			return "", nil
		}
		if _, ok := a.read(typed); ok {
			return name + "=" + typed, nil
		}
		f.env.tell("  %s", escape("the schema wants "+a.wants()+nearmiss.Hint(typed, a.choices())))
	}
}

// choices returns the values that the schema lists, in the form in which they are typed: a string without its quotes.
func (a *argument) choices() []string {
	choices := make([]string, len(a.enum))
	for i, e := range a.enum {
		if choices[i] = e; jsontext.IsString([]byte(e)) {
			choices[i] = jsontext.String([]byte(e))
		}
	}
	return choices
}

// choice returns the value with the typed number, or typed itself if it is a value.
func (a *argument) choice(typed string) string {
	choices := a.choices()
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(choices) && !slices.Contains(choices, typed) {
		return choices[n-1]
	}
	return typed
}
