package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/nearmiss"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

var (
	// errNothingChosen is the end of the input.
	errNothingChosen = errors.New("nothing was chosen")
	// errBack is the end of a question whose person wants the one before again.
	errBack = errors.New("nothing was chosen")
	// errLeft is the end of a form that the person has left.
	errLeft = errors.New("the form was left")
)

// maxChoices bounds what is listed to choose from; a name can be typed all the same.
const maxChoices = 200

// maxLine bounds the line that says the same: a terminal takes no longer one, and a server may choose long names.
const maxLine = 4000

// form lets a person on a terminal say what the command line did not: the server, the tool, and its arguments. It
// belongs to one goroutine, and has the input for itself while it runs.
type form struct {
	env environment
	questions
}

// questions is how a form asks. All that a server chose is cleaned and bounded by it.
type questions interface {
	// choose gives one of names; abouts say something of each, when there are any.
	choose(what string, names, abouts []string) (string, error)
	// value gives what was typed or chosen for an argument, as argument.settle takes it.
	value(a *argument, name string) (string, error)
}

// wantsForm tells whether a person is to say which tool: there is one, and the command line has not said it.
func (o *callOptions) wantsForm(env environment) bool {
	return o.command == "call" && o.tool == "" && !o.json && isTerminal(env.stdin) && isTerminal(env.stderr)
}

// fillForm asks the person. The tools come from a hub of their own, which is gone before the first question: nothing
// runs while somebody thinks, and Ctrl-C simply leaves.
func (o *callOptions) fillForm(env environment) (status int) {
	if err := o.sourceFlags.check(); err != nil {
		return usageError(env, "call", err)
	}
	f := &form{env: env}
	if s := newFormScreen(env); s != nil {
		f.questions = s
		env.tell("Type to filter, Esc goes back, Ctrl-C leaves; nothing is called before the last answer.")
	} else {
		t := newTypist(env.stdin)
		defer t.close()
		f.questions = &lines{env: env, ask: func(question string, secret bool) (string, error) {
			sign(env.stderr, question)
			t.want(secret)
			line := <-t.lines
			if line.over {
				return "", errNothingChosen
			}
			return line.text, nil
		}}
		env.tell("Ctrl-C leaves; nothing is called before the last answer.")
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
		o.server = "" // which flags say already
	}
	return exitOK
}

// leftForm gives the exit status of a form that was not filled.
func leftForm(env environment, err error) int {
	if errors.Is(err, errBack) || errors.Is(err, errLeft) {
		env.say("nothing was called")
		return exitCancelled
	}
	return usageError(env, "call", err)
}

// listTools gets the tools of the server from a hub that is gone afterwards.
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

// fill chooses among tools and sets the arguments. It prints the command line that says the same.
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
	shown := o.pairs
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
		shown = schema.withoutSecrets(o.pairs)
		break
	}
	words := append([]string{"mcphub", "call"}, o.sourceFlags.words(o.server)...)
	words = append(words, named("--tool", o.tool)...)
	for _, p := range shown {
		words = append(words, "-a", p)
	}
	o.pairs = nil // they are in args now
	if line := shellLine(words); len(line) <= maxLine {
		f.env.say("\nThe same again:\n  %s\n", line)
	} else {
		f.env.say("\nThe line that says the same is too long to paste: %d characters\n", len(line))
	}
	return nil
}

// arguments asks for each argument of a schema. Enter alone leaves out what may be left out; errBack of a question
// leads to the one before, and of the first one out of here.
func (f *form) arguments(schema *argument, prefix string) ([]string, error) {
	given := make([]string, len(schema.properties))
	for i := 0; i < len(given); {
		pair, err := f.argument(&schema.properties[i], prefix+schema.properties[i].name)
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

// argument asks for one argument, and gives it as NAME=VALUE; "": it is left out.
func (f *form) argument(a *argument, name string) (string, error) {
	typed, err := f.value(a, name)
	if err != nil {
		return "", err
	}
	value, given, err := a.settle(typed)
	if err != nil || !given {
		return "", err
	}
	return name + "=" + value, nil
}

// settle reads what was typed for an argument. Nothing leaves out what may be left out, and is the default of what may
// not.
func (a *argument) settle(typed string) (value string, given bool, err error) {
	if typed == "" && !a.required {
		return "", false, nil
	}
	if typed == "" && a.def != "" {
		return a.example(), true, nil
	}
	if _, ok := a.read(typed); !ok {
		return "", false, errors.New("the schema wants " + a.wants() + nearmiss.Hint(typed, a.choices()))
	}
	return typed, true, nil
}

// question is an argument's name with what it wants.
func (a *argument) question(name, wants string) string {
	switch {
	case a.def != "":
		wants += ", default " + cut(a.def, 60)
	case !a.required:
		wants += ", Enter leaves it out"
	}
	return escape(shortName(name) + " (" + wants + ")")
}

// about is what the schema says of an argument, "" when it says nothing.
func (a *argument) about() string {
	return escape(cut(strings.Join(strings.Fields(a.description), " "), 300))
}

// withoutSecrets gives arguments for a line that is shown.
func (a *argument) withoutSecrets(pairs []string) []string {
	shown := slices.Clone(pairs)
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if property, _ := a.find(name); property.secret {
			shown[i] = name + "=…"
		}
	}
	return shown
}

// choices are the values that the schema names, as they are typed: a text without its quotes.
func (a *argument) choices() []string {
	choices := make([]string, len(a.enum))
	for i, e := range a.enum {
		if choices[i] = e; jsontext.IsString([]byte(e)) {
			choices[i] = jsontext.String([]byte(e))
		}
	}
	return choices
}
