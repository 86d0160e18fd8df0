package catalog

import (
	"encoding/json"
	"regexp"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// maxText is how many bytes of a text that people read are kept.
const maxText = 1000

// envName is the form of a name of an environment variable.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)

// text returns a member of an object in a registry's answer or in a manifest, or "" if that is no string.
func text(object json.RawMessage, name string) string {
	return jsontext.String(jsontext.Get(object, name))
}

func truth(object json.RawMessage, name string) bool {
	return string(jsontext.Get(object, name)) == "true"
}
