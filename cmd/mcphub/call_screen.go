package main

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcphub-go/mcphub/hub/nearmiss"
)

// formScreen asks on a terminal that takes escape sequences: one form of the library for each question, so that Esc
// leads to the one before whatever that was. The terminal is as it was between them.
type formScreen struct {
	env   environment
	in    *os.File
	out   io.Writer
	theme *huh.Styles // built once: the library asks for it with each line that it draws
}

// listed is how many rows of what can be chosen are shown at once.
const listed = 12

// newFormScreen gives one for a terminal that takes escape sequences, nil for any other and for who has asked for plain
// lines, as a screen reader's user does.
func newFormScreen(env environment) *formScreen {
	in := fileOf(env.stdin)
	if in == nil || !isTerminal(in) || !takesEscapes(env.stderr) || os.Getenv("ACCESSIBLE") != "" {
		return nil
	}
	return &formScreen{env: env, in: in, out: env.stderr, theme: formTheme()}
}

// formTheme has the terminal's own colours, which fit on light and dark.
func formTheme() *huh.Styles {
	theme := huh.ThemeBase(false)
	theme.Focused.Title = theme.Focused.Title.Bold(true)
	theme.Focused.SelectedOption = theme.Focused.SelectedOption.Bold(true)
	return theme
}

// ask puts one question. The errors are errBack and errLeft.
func (s *formScreen) ask(field huh.Field) error {
	back := false
	options := []tea.ProgramOption{tea.WithInput(s.in), tea.WithOutput(s.out)}
	options = append(options, tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch m := msg.(type) {
		case tea.KeyPressMsg:
			if m.String() == "esc" {
				back = true
				return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl} // the key that ends the form
			}
		case tea.InterruptMsg:
			// It would leave the form's lines on the terminal, and a reader that takes the first keys of the next form.
			return tea.QuitMsg{}
		}
		return msg
	}))
	if !hasColours(s.env.stderr) { // the library takes some values of NO_COLOR for a no
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	form := huh.NewForm(huh.NewGroup(field)).WithKeyMap(formKeys(field)).
		WithTheme(huh.ThemeFunc(func(bool) *huh.Styles { return s.theme })).WithProgramOptions(options...)
	err := form.Run()
	switch {
	case back:
		return errBack
	case errors.Is(err, huh.ErrUserAborted), err == nil && form.State != huh.StateCompleted: // a key, or a signal
		return errLeft
	}
	return err
}

// formKeys are the keys of a form of one field: those that lead to other fields are not there, so that the line of help
// does not name them. Esc and Ctrl-C are ask's.
func formKeys(field huh.Field) *huh.KeyMap {
	keys := huh.NewDefaultKeyMap()
	keys.Select.Prev, keys.Select.Next, keys.Select.SetFilter = key.Binding{}, key.Binding{}, key.Binding{}
	keys.Text.Prev, keys.Text.Next = key.Binding{}, key.Binding{}
	keys.Input.Prev, keys.Input.Next = key.Binding{}, key.Binding{}
	if list, ok := field.(*huh.Select[int]); ok && list.GetFiltering() { // what is typed filters, a / too
		keys.Select.Filter = key.Binding{}
	}
	return keys
}

func (s *formScreen) choose(what string, names, abouts []string) (string, error) {
	all := make([]int, len(names))
	for i := range names {
		all[i] = i
	}
	for {
		places := all
		if len(names) > maxChoices {
			var err error
			if places, err = s.narrow(what, names, all); err != nil {
				return "", err
			}
		}
		chosen, err := s.chooseOf(what, names, abouts, places)
		if errors.Is(err, errBack) && len(names) > maxChoices {
			continue
		}
		return chosen, err
	}
}

// narrow asks for a part of the name where there are too many to show.
func (s *formScreen) narrow(what string, names []string, all []int) ([]int, error) {
	fit := func(part string) (places []int) {
		for _, i := range all {
			if strings.Contains(strings.ToLower(names[i]), strings.ToLower(part)) {
				places = append(places, i)
			}
		}
		return places
	}
	part := ""
	err := s.ask(huh.NewInput().Title(what + ": there are " + strconv.Itoa(len(names)) + "; a part of the name").
		Value(&part).Validate(func(typed string) error {
		if len(fit(strings.TrimSpace(typed))) == 0 {
			return errors.New(escape("there is no " + strconv.Quote(cut(typed, maxName)) + nearmiss.Hint(typed, names)))
		}
		return nil
	}))
	return fit(strings.TrimSpace(part)), err
}

// chooseOf lets the person choose one of the names at these places.
func (s *formScreen) chooseOf(what string, names, abouts []string, places []int) (string, error) {
	title := what
	if n := len(places); n > maxChoices {
		places, title = places[:maxChoices], what+" (the first "+strconv.Itoa(maxChoices)+" of "+strconv.Itoa(n)+")"
	}
	labels := make([]string, len(places))
	column := 0
	for i, place := range places {
		labels[i] = escape(shortName(names[place]))
		column = max(column, cellsOf(labels[i]))
	}
	column = min(column, helpWidth(s.env.stderr)/2)
	for i, place := range places {
		if abouts != nil && abouts[place] != "" {
			labels[i] += strings.Repeat(" ", max(0, column-cellsOf(labels[i]))) + "  " + escape(abouts[place])
		}
	}
	chosen, err := s.pick(title, "", labels, 0)
	if err != nil {
		return "", err
	}
	name := names[places[chosen]]
	s.env.say("%s: %s", what, escape(shortName(name)))
	return name, nil
}

// pick lets the person choose one of the labels; first is where the choice begins.
func (s *formScreen) pick(title, about string, labels []string, first int) (chosen int, err error) {
	width := helpWidth(s.env.stderr) - 5 // the library's bar and arrow
	options := make([]huh.Option[int], len(labels))
	for i, label := range labels {
		options[i] = huh.NewOption(cutCells(label, width), i)
	}
	chosen = first
	field := huh.NewSelect[int]().Title(title).Description(about).Options(options...).Value(&chosen)
	if len(labels) > listed { // what is typed filters, and stands in the place of the title
		field.Filtering(true).Description(strings.TrimSpace(title + "\n" + about)).Height(listed + 2)
	}
	err = s.ask(field)
	return chosen, err
}

// value asks for an argument: a list where the schema names the values, lines for texts and JSON, else one line.
func (s *formScreen) value(a *argument, name string) (typed string, err error) {
	choices := a.choices()
	if len(choices) == 0 && slices.Equal(a.types, []string{"boolean"}) {
		choices = []string{"true", "false"}
	}
	check := func(typed string) error {
		if _, _, err := a.settle(typed); err != nil {
			return errors.New(escape(err.Error()))
		}
		return nil
	}
	title := a.question(name, a.wants())
	switch {
	case len(choices) > 0:
		typed, err = s.valueOf(a, name, choices)
	case a.secret:
		err = s.ask(huh.NewInput().Title(title).Description(a.about()).EchoMode(huh.EchoModePassword).Value(&typed).
			Validate(check))
	case a.takes("string"), a.takes("array"), a.takes("object"):
		err = s.ask(huh.NewText().Title(title).Description(a.about()).ExternalEditor(false).Lines(3).Value(&typed).
			Validate(check))
	default:
		err = s.ask(huh.NewInput().Title(title).Description(a.about()).Value(&typed).Validate(check))
	}
	if err != nil {
		return "", err
	}
	told := strings.Join(strings.Fields(typed), " ")
	switch {
	case a.secret && typed != "":
		told = "(not shown)"
	case typed == "" && a.required && a.def != "":
		told = a.example()
	case typed == "" && !a.required:
		told = "(left out)"
	}
	s.env.tell("%s: %s", escape(shortName(name)), escape(cut(told, 200)))
	return typed, nil
}

// valueOf lets the person choose one of the values that a schema names; "" leaves the argument out.
func (s *formScreen) valueOf(a *argument, name string, choices []string) (string, error) {
	values := choices[:min(len(choices), maxChoices)]
	wants := "choose one"
	if n := len(choices); n > len(values) {
		wants = "the first " + strconv.Itoa(len(values)) + " of " + strconv.Itoa(n)
	}
	labels := make([]string, len(values))
	for i, value := range values {
		labels[i] = escape(cut(value, 100))
	}
	first := max(0, slices.Index(values, a.example()))
	if !a.required {
		values, labels = append([]string{""}, values...), append([]string{"(left out)"}, labels...)
		first = 0
	}
	chosen, err := s.pick(escape(shortName(name)+" ("+wants+")"), a.about(), labels, first)
	if err != nil {
		return "", err
	}
	return values[chosen], nil
}
