package redact

import (
	"bytes"
	"encoding/json"
)

// Members gives what members are as JSON (objects, lists, texts) without secrets in their texts: for what leaves the
// hub as a whole, such as the bundle for a bug report. Numbers stay as they are, names of members too.
func (r *Redactor) Members(members map[string]any) map[string]any {
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree map[string]any
	if d.Decode(&tree) != nil {
		return nil // cannot be: it was marshalled just now
	}
	for name := range tree {
		tree[name] = r.tree(tree[name])
	}
	return tree
}

func (r *Redactor) tree(v any) any {
	switch v := v.(type) {
	case string:
		return r.Text(v)
	case []any:
		for i := range v {
			v[i] = r.tree(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = r.tree(v[name])
		}
	}
	return v
}
