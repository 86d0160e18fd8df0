package edit

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// result reads what came out, and refuses what is not what was wanted: an entry that cannot be used, and the slightest
// change of anything else in the file.
func (e *editing) result(set Settings) (Edited, error) {
	after := e.src
	after.JSON = e.out
	layout := config.LayoutOf(after)
	if p := layout.Unreadable; p != nil {
		kind := Unsupported
		if len(e.out) > len(e.src.JSON) && p.Line == 0 {
			kind = TooLarge
		}
		return Edited{}, refuse(kind, 0, "", "what would be written cannot be read (%s); edit the file by hand", p.Message)
	}
	if !e.othersStay() {
		return Edited{}, refuse(Unsupported, 0, "", "the change would touch more of the file than this entry; edit the file by hand")
	}
	out := Edited{Text: e.out}
	if e.gone {
		return out, nil
	}
	for _, p := range layout.Problems {
		if p.Server != e.name {
			continue
		}
		if p.Fatal {
			return Edited{}, refuseProblem(Wrong, p, 0)
		}
		out.Problems = append(out.Problems, p)
	}
	s := layout.Server(e.name)
	if s == nil {
		return Edited{}, refuse(Wrong, 0, "", "what would be written is no entry of a server")
	}
	if r := settled(s, set); r != nil {
		return Edited{}, r
	}
	out.Line, out.Server = s.Origin.Line, s
	return out, nil
}

// settled tells whether an entry says what was to be set: another part of the file may say otherwise.
func settled(s *config.Server, set Settings) *Refusal {
	says := func(field string) (line int) { return s.Fields[field].Line }
	if set.Enabled != nil && s.Disabled == *set.Enabled {
		return refuse(Unsupported, says("disabled"), s.Fields["disabled"].Key,
			"decides whether the server is on, in another place of the file; edit the file by hand")
	}
	for tool, p := range set.Approvals {
		if p != "" && s.Policy(tool) != p {
			return refuse(Unsupported, 0, "approvals", "a pattern of the entry says %q of the tool %q; change that pattern",
				s.Policy(tool), short(tool))
		}
	}
	clocks := map[string]any{"connect": s.Timeouts.Connect, "idle": s.Timeouts.Idle, "total": s.Timeouts.Total,
		"human": s.Timeouts.Human}
	for clock, want := range set.Timeouts {
		if want != nil && !reflect.DeepEqual(clocks[clock], want) {
			return refuse(Unsupported, says("timeouts."+clock), "timeouts."+clock, "cannot be set in this file; edit it by hand")
		}
	}
	return nil
}

// othersStay tells whether all that is not the entry is what it was, order included where the format has one.
func (e *editing) othersStay() bool {
	before, ok := e.values(e.src.JSON)
	after, alsoOK := e.values(e.out)
	after = e.withoutInputs(after)
	if e.unmade {
		before = apart(before, e.inputsAt())
	}
	return ok && alsoOK && reflect.DeepEqual(apart(before, e.path), apart(after, e.path))
}

func (e *editing) values(text []byte) (any, bool) {
	if e.layout.TOML {
		t, r := openTOML(text, e.path)
		if r != nil {
			return nil, false
		}
		return fromTOML(t.all), true
	}
	t, r := openJSON(text)
	if r != nil {
		return nil, false
	}
	return plain(t.root.Value), true
}

// apart is a value without what is at a path, and without the objects on the way that have nothing else.
func apart(v any, path []string) any {
	o, ok := v.(object)
	if !ok || len(path) == 0 {
		return v
	}
	out := object{}
	for _, m := range o {
		if m.name != path[0] {
			out = append(out, m)
			continue
		}
		if len(path) == 1 {
			continue
		}
		inner := apart(m.value, path[1:])
		if rest, isObject := inner.(object); !isObject || len(rest) > 0 {
			out = append(out, member{m.name, inner})
		}
	}
	return slices.Clip(out)
}

// String shows an object for tests and panics; it is never logged.
func (o object) String() string { return fmt.Sprint(len(o), " members") }
