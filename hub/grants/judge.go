package grants

import (
	"context"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
)

// Judge returns the problems that a start of an entry would meet, and those that it would warn of, without asking
// anybody. It looks at the entry as a start does, with stand-ins for what a person would type. If a program is not
// found without the login shell, Judge waits for the shell's answer within ctx. A fatal problem would make the start
// fail. The problems contain no values.
func (m *Resolver) Judge(ctx context.Context, conf config.Server) []config.Problem {
	v := m.variables(ctx, conf)
	values := conf.StandIns(nil)
	v.Input = config.Inputs(values)
	undecided := len(conf.DecidingInputs()) > 0
	if undecided { // there is no file to read before a person has chosen
		v.ReadFile = func(string) ([]byte, error) { return nil, nil }
	}
	found := conf.Judge(v)
	if undecided || conf.URL != "" || slices.ContainsFunc(found, func(p config.Problem) bool { return p.Fatal }) {
		return found
	}
	seen := Look(conf, v, values, m.finder(ctx))
	if setting, why := seen.Missing(); why != "" {
		if setting == "command" { // the message of a StartError does not name the command
			why = `"` + bounds.Printable(conf.Command) + `": ` + why
		}
		found = append(found, conf.ProblemAt(setting, why, true))
	}
	return found
}
