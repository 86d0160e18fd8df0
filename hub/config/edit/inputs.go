package edit

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// withInputs returns the inputs of the file, which stand beside its servers, with others behind them. One that is there
// already, alike, is left as it is; another one of the same id is refused.
func (e *editing) withInputs(inputs []config.Input) ([]any, *Refusal) {
	if e.dialect != config.DialectVSCode {
		return nil, refuse(Unsupported, 0, "inputs", "this file's dialect has no inputs; write the values, or name another file")
	}
	v, there := e.before.get(e.inputsAt()...)
	list, ok := v.([]any)
	if there && !ok {
		return nil, refuse(Unsupported, 0, "inputs", "is no array; edit the file by hand")
	}
	list = slices.Clip(list)
	for _, in := range inputs {
		fresh := writeInput(in)
		i := slices.IndexFunc(list, func(v any) bool {
			o, _ := v.(object)
			id, _ := o.get("id")
			return id == in.ID
		})
		if i < 0 {
			list = append(list, fresh)
		} else if !alike(list[i].(object), fresh) {
			return nil, refuse(Wrong, 0, "inputs."+in.ID,
				"stands in the file already and is another one; choose another name for the input")
		}
	}
	return list, nil
}

// inputsAt is where the inputs are.
func (e *editing) inputsAt() []string {
	holder := e.path[:len(e.path)-1]
	return append(slices.Clone(holder[:max(len(holder)-1, 0)]), "inputs")
}

func writeInput(in config.Input) object {
	o := object{{"type", "promptString"}, {"id", in.ID}}
	if in.Options != nil {
		o[0].value = "pickString"
	}
	if in.Description != "" {
		o = append(o, member{"description", in.Description})
	}
	if in.Options != nil {
		var options []any
		for _, choice := range in.Options {
			options = append(options, choice.Value)
		}
		o = append(o, member{"options", options})
	}
	if in.Default != "" {
		o = append(o, member{"default", in.Default})
	}
	if in.Secret {
		o = append(o, member{"password", true})
	}
	return o
}

// alike tells whether two inputs ask for the same kind of value: their words may differ.
func alike(a, b object) bool {
	for _, key := range []string{"type", "password"} {
		v, _ := a.get(key)
		w, _ := b.get(key)
		if v == false {
			v = nil
		}
		if v != w {
			return false
		}
	}
	return true
}
