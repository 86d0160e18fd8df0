package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON gives a JSON text of a server without secrets. It comes back byte for byte when there is none in it, and is
// valid JSON in any case.
func (r *Redactor) JSON(data string) string {
	index := r.now.Load()
	if index == nil {
		return data
	}
	clean := index.replace(data)
	if clean != data && json.Valid([]byte(clean)) {
		data = clean
	}
	if clean == data && !strings.Contains(data, `\`) {
		return data // each text in it is as it was written
	}
	// Letters may be escaped, lines may be within a text, and a number may be a secret.
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	var tree any
	if d.Decode(&tree) != nil {
		return `"` + redactedText + `"` // cannot be: it was read as JSON before
	}
	tree, changed := r.clean(tree)
	if !changed {
		return data
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(tree) != nil {
		return `"` + redactedText + `"`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// clean gives a JSON tree without secrets: not in texts, numbers or names.
func (r *Redactor) clean(v any) (_ any, changed bool) {
	switch v := v.(type) {
	case string:
		text := r.Text(v)
		return text, text != v
	case json.Number:
		if r.Text(v.String()) != v.String() {
			return redactedText, true
		}
	case []any:
		for i := range v {
			one, did := r.clean(v[i])
			v[i], changed = one, changed || did
		}
		return v, changed
	case map[string]any:
		fresh := make(map[string]any, len(v))
		for name, member := range v {
			one, did := r.clean(member)
			key := r.Text(name)
			fresh[key], changed = one, changed || did || key != name
		}
		return fresh, changed
	}
	return v, false
}
