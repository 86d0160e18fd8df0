package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON returns a JSON text of a server without secrets. If there is no secret in it, it is returned byte for byte. The
// result is always valid JSON.
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
		return data // no text in it has an escape
	}
	// Letters may be escaped, a secret may be spread over the lines of a text, and a number may be a secret.
	tree, ok := decoded(data)
	if !ok {
		return `"` + redactedText + `"` // cannot happen: the text was read as JSON before
	}
	tree, changed := r.clean(tree, true)
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

// Members returns members as they are in JSON (objects, lists, texts), with the secrets removed from the texts. It is
// for data that leaves the hub as a whole, such as the bundle for a bug report. Numbers and names of members are not
// changed.
func (r *Redactor) Members(members map[string]any) map[string]any {
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	tree, _ := decoded(string(text))
	tree, _ = r.clean(tree, false)
	clean, _ := tree.(map[string]any)
	return clean
}

func decoded(data string) (tree any, ok bool) {
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	err := d.Decode(&tree)
	return tree, err == nil
}

// clean returns a JSON tree with the secrets removed from its texts and, if all is set, from numbers and names. It may
// change v.
func (r *Redactor) clean(v any, all bool) (_ any, changed bool) {
	switch v := v.(type) {
	case string:
		text := r.Text(v)
		return text, text != v
	case json.Number:
		if all && r.Text(v.String()) != v.String() {
			return redactedText, true
		}
	case []any:
		for i := range v {
			one, did := r.clean(v[i], all)
			v[i], changed = one, changed || did
		}
		return v, changed
	case map[string]any:
		fresh := make(map[string]any, len(v))
		for name, member := range v {
			one, did := r.clean(member, all)
			key := name
			if all {
				key = r.Text(name)
			}
			fresh[key], changed = one, changed || did || key != name
		}
		return fresh, changed
	}
	return v, false
}
