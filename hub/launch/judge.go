package launch

import (
	"context"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// Judge tells what a start of an entry would find wrong, and what it would warn of, without asking anybody: it looks as
// Prepare does, with stand-ins for what a person would type. Where a program is not found without the login shell, the
// shell's answer is waited for within ctx. What is fatal would make the start fail. None of it holds a value.
func (m *Maker) Judge(ctx context.Context, conf config.Server) []config.Problem {
	v := m.variables(ctx, conf)
	values := conf.StandIns(nil)
	v.Input = config.Inputs(values)
	undecided := len(conf.DecidingInputs()) > 0
	if undecided { // there is no file to look for before a person has chosen
		v.ReadFile = func(string) ([]byte, error) { return nil, nil }
	}
	found := conf.Judge(v)
	if undecided || conf.URL != "" || slices.ContainsFunc(found, func(p config.Problem) bool { return p.Fatal }) {
		return found
	}
	seen := grants.Look(conf, v, values, m.finder(ctx))
	if setting, why := seen.Missing(); why != "" {
		if setting == "command" { // the words are those of an error that has named it
			why = `"` + bounds.Printable(conf.Command) + `": ` + why
		}
		found = append(found, conf.ProblemAt(setting, why, true))
	}
	return found
}
