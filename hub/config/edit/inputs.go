package edit

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// addInputs adds inputs to those of the file, which stand beside its servers. One that is there already, alike, is left
// as it is; another one of the same id is refused.
func (e *editing) addInputs(t tree, inputs []config.Input) *Refusal {
	if len(inputs) == 0 {
		return nil
	}
	if e.dialect != config.DialectVSCode {
		return refuse(Unsupported, 0, "inputs", "this file's dialect has no inputs; write the values, or name another file")
	}
	at := e.inputsAt()
	list, _, r := t.get(at)
	if r != nil {
		return r
	}
	old, _ := list.([]any)
	for _, in := range inputs {
		fresh := writeInput(in)
		i := slices.IndexFunc(old, func(v any) bool {
			o, _ := v.(object)
			id, _ := o.get("id")
			return id == in.ID
		})
		if i >= 0 {
			if !alike(old[i].(object), fresh) {
				return refuse(Wrong, 0, "inputs."+in.ID,
					"stands in the file already and is another one; choose another name for the input")
			}
			continue
		}
		if r := t.extend(at, fresh); r != nil {
			return r
		}
		old = append(old, fresh)
		e.inputs++
	}
	return nil
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

// withoutInputs is a value of the file without the inputs that were added.
func (e *editing) withoutInputs(v any) any {
	if e.inputs == 0 {
		return v
	}
	return shortened(v, e.inputsAt(), e.inputs, e.hadInputs())
}

// hadInputs tells whether there was a list of inputs before.
func (e *editing) hadInputs() bool {
	t, r := openJSON(e.src.JSON)
	if r != nil {
		return false
	}
	_, had, _ := t.get(e.inputsAt())
	return had
}

// shortened takes the last n elements of the array at a path away, and an array that is not to stay.
func shortened(v any, path []string, n int, stays bool) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	var out object
	for _, m := range o {
		if m.name != path[0] {
			out = append(out, m)
			continue
		}
		if len(path) > 1 {
			out = append(out, member{m.name, shortened(m.value, path[1:], n, stays)})
			continue
		}
		list, isList := m.value.([]any)
		if !isList || len(list) < n {
			return v
		}
		if stays {
			out = append(out, member{m.name, list[: len(list)-n : len(list)-n]})
		}
	}
	return out
}
