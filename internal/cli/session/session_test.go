package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestFlagsStandAnywhere: flags may stand after the server's name too.
func TestFlagsStandAnywhere(t *testing.T) {
	for _, args := range [][]string{{"srv", "--config", "f", "--json"}, {"--config", "f", "srv", "--json"},
		{"--json", "--config", "f", "srv"}} {
		var o Options
		c := new(cobra.Command)
		o.Register(c)
		err := c.ParseFlags(args)
		set := c.Flags()
		if err != nil || !cmp.Equal(set.Args(), []string{"srv"}) || !cmp.Equal(o.Configs, []string{"f"}) || !o.JSON {
			t.Errorf("%q: positional %q, configs %q, json %v, error %v", args, set.Args(), o.Configs, o.JSON, err)
		}
	}
}
