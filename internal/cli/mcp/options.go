package mcp

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/browser"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// options are the flags of mcphub mcp.
type options struct {
	*door.Factory
	source.Flags
	page        browser.Flags
	window      bool
	http        string
	tokenFile   string
	approval    string
	questions   string
	plainNames  bool
	profile     string
	tools       string
	maxTokens   int
	printConfig string
}

func (o *options) register(c *cobra.Command) {
	o.Flags.Register(c)
	o.Complete(c, nil)
	set := c.Flags()
	set.StringVar(&o.http, "http", "", "ADDRESS\tserve Streamable HTTP at this loopback address, such as 127.0.0.1:7777 "+
		"(port 0: a free one), in place of stdin and stdout")
	set.StringVar(&o.tokenFile, "token-file", "", "FILE\twith --http: take the token from this file; default: a new one, "+
		"which is printed once")
	set.StringVar(&o.profile, "profile", "", "NAME\ta profile of the config: which servers and tools there are, and what "+
		"the other flags do not say")
	cmd.ChoiceFlag(set, &o.approval, "approval", "window|client", "who agrees to calls where the config says ask: a window "+
		"(the default), or the client, which has asked its user itself")
	cmd.ChoiceFlag(set, &o.questions, "questions", "client|window|either", "who is asked what servers ask in the course of a "+
		"call; default client")
	cmd.ChoiceFlag(set, &o.tools, "tools", "all|search|auto", "list all tools (the default), or three that find and call them; "+
		"auto: from 100 tools or 10,000 tokens on")
	set.IntVar(&o.maxTokens, "max-tokens", 0, "N\tbound the results of tools; the client reads the rest in pieces")
	set.BoolVar(&o.plainNames, "plain-names", false, "tools and prompts keep their servers' names where no two are alike")
	set.BoolVar(&o.window, "window", false, "serve the page as well, to approve, answer and cancel on; its address is "+
		"printed on stderr")
	o.page.Register(set)
	set.StringVar(&o.printConfig, "print-config", "", "CLIENT\tprint what to paste into the settings of a client, and "+
		"end; with --http and --token-file what leads it to that address: "+
		strings.Join(clientNames(), ", "))
}

// check returns an error if the flags themselves are wrong. It is no error that there are no servers yet: a client that
// starts the gateway must not see it fail.
func (o *options) check() error {
	if !o.Own() {
		missing := (*source.NoFileError)(nil) // the hub reports it, and waits for the file
		if err := o.Flags.Check(); err != nil && !errors.As(err, &missing) {
			return err
		}
	}
	if err := o.page.Check(); err != nil {
		return err
	}
	if err := o.CheckAllServers(); err != nil {
		return err
	}
	switch {
	case o.maxTokens < 0:
		return fmt.Errorf("--max-tokens %d: it is a number of tokens, or 0 for no bound", o.maxTokens)
	case o.tokenFile != "" && o.http == "":
		return errors.New("--token-file goes with --http")
	case !o.window && (o.page.Open || o.page.Port != 0):
		return errors.New("--open and --port say how the page of --window is served")
	}
	return nil
}

// gateway returns the options of the gateway.
func (o *options) gateway() gateway.Options {
	return gateway.Options{Title: "mcphub mcp", Profile: o.profile, Approval: o.approval, Questions: o.questions,
		Tools: o.tools, MaxTokens: o.maxTokens, PlainNames: o.plainNames}
}

// minToken is the least length of a token. A shorter one could be guessed.
const minToken = 16

// token returns the token of --token-file, "" without the flag.
func (o *options) token() (string, error) {
	if o.tokenFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(o.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("--token-file %s: a token is one word of at least %d characters", o.tokenFile, minToken)
	}
	return token, nil
}
