package questions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Answers are the answers to prompts that the flags give.
type Answers struct {
	Approve string // allow, deny, hang, or "": ask
	elicit  string // accept, decline, dismiss, hang, or "": ask, on a terminal
	content string // JSON object of an accepted form
	sample  string // decline, hang, or the text of a completion
	signIn  string // print, decline, hang, or "": print on a terminal
	launch  string // ask, allow, deny, or "": ask, on a terminal
	Inputs  Inputs
}

// RegisterStart defines the flags that answer what a server may need to start.
func (a *Answers) RegisterStart(set *pflag.FlagSet) {
	cmd.ChoiceFlag(set, &a.signIn, "sign-in", "print|decline|hang", "answer a server that wants a sign-in: print the page's "+
		"address and wait; default: print on a terminal, else fail")
	cmd.ChoiceFlag(set, &a.launch, "launch", "ask|allow|deny",
		"answer a workspace file that brings a server; default: ask on a terminal, else fail")
	a.Inputs.Register(set)
}

// RegisterCall defines the flags that answer what a server may ask in the course of a request.
func (a *Answers) RegisterCall(set *pflag.FlagSet) {
	set.Func("elicit", "accept:JSON|decline|dismiss|hang\tanswer a server's form or page; default: ask on a terminal, "+
		"else dismiss", a.setElicit)
	set.StringVar(&a.sample, "sample", "decline",
		"TEXT|decline|hang\tanswer a server that asks for a completion; default: decline")
	a.RegisterStart(set)
}

func (a *Answers) setElicit(v string) error {
	action, content, has := strings.Cut(v, ":")
	switch {
	case action == "accept":
		if !has {
			content = "{}"
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(content), &object) != nil || object == nil {
			return errors.New(`after accept: comes a JSON object, accept:{"name":"Ada"} say`)
		}
	case has, action != "decline" && action != "dismiss" && action != "hang":
		return errors.New("it is accept:JSON, decline, dismiss or hang")
	}
	a.elicit, a.content = action, content
	return nil
}

// Kinds returns the kinds of prompts that the command can show: those that a flag answers, and on a terminal all. The
// hub then knows where nobody can be asked, and says so.
func (a *Answers) Kinds(terminal bool) []mcphubv1.PromptKind {
	return slices.DeleteFunc(slices.Clone(door.AllKinds), func(kind mcphubv1.PromptKind) bool {
		switch kind {
		case mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL:
			return !terminal && a.Approve == ""
		case mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN:
			return !terminal && a.signIn == ""
		case mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH:
			return !terminal && (a.launch == "" || a.launch == "ask")
		case mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT:
			return !terminal && len(a.Inputs.Values) == 0
		}
		return false
	})
}

// AnswerToStart answers the questions that a server asks in order to start. It declines all others, since the command
// makes no request.
func (a *Answers) AnswerToStart(p *mcphubv1.Prompt, terminal bool) (answer *mcphubv1.PromptAnswer, note string,
	ask bool) {
	switch p.GetQuestion().(type) {
	case *mcphubv1.Prompt_SignIn, *mcphubv1.Prompt_ServerLaunch, *mcphubv1.Prompt_ConfigInput:
		return a.AnswerTo(p, terminal)
	}
	return host.Decline(p, "this command only lists"), "declined: this command only lists", false
}

// AnswerTo returns the flags' answer to a prompt of those kinds, or nil if the prompt is left open. ask reports that a
// person has to decide. note is a text for stderr.
func (a *Answers) AnswerTo(p *mcphubv1.Prompt, terminal bool) (answer *mcphubv1.PromptAnswer, note string, ask bool) {
	switch q := p.GetQuestion().(type) {
	case *mcphubv1.Prompt_ToolApproval:
		switch a.Approve {
		case "allow":
			return door.Accept(p, ""), "", false
		case "deny":
			return host.Decline(p, "denied by --approve deny"), "", false
		case "hang":
			return nil, "left open", false
		}
		return nil, "", true
	case *mcphubv1.Prompt_Sampling:
		switch a.sample {
		case "hang":
			return nil, "left open", false
		case "decline":
			return host.Decline(p, "declined by --sample decline"), "declined; --sample TEXT would answer it", false
		}
		return door.Accept(p, completionOf(a.sample)), "answered", false
	case *mcphubv1.Prompt_ElicitationForm, *mcphubv1.Prompt_ElicitationUrl:
		if a.elicit == "" && terminal && !p.GetElicitationUrl().GetWaiting() {
			return nil, "", true
		}
		answer, note = a.answerElicitation(p)
		return answer, note, false
	case *mcphubv1.Prompt_SignIn:
		// It accepts once the page's address has been printed: the consent is that a person opens the address. The question
		// that waits for the browser closes by itself.
		switch {
		case a.signIn == "hang":
			return nil, "left open", false
		case q.SignIn.GetWaiting():
			return nil, "", false
		case a.signIn == "decline":
			return host.Decline(p, "declined by --sign-in decline"), "declined", false
		}
		return door.Accept(p, ""), "", false
	case *mcphubv1.Prompt_ServerLaunch:
		// --approve is about tools: it is not a consent to a command line that the user has never seen.
		switch a.launch {
		case "allow":
			return door.Accept(p, ""), "agreed to by --launch allow", false
		case "deny":
			return host.Decline(p, "denied by --launch deny"), "denied", false
		}
		return nil, "", true
	case *mcphubv1.Prompt_ConfigInput:
		return a.Inputs.answerTo(p, terminal)
	}
	// The kind is newer than this command, and its window has not declared it.
	return door.Dismiss(p.GetPromptId()), "dismissed: a question of an unknown kind", false
}

func (a *Answers) answerElicitation(p *mcphubv1.Prompt) (answer *mcphubv1.PromptAnswer, note string) {
	switch url := p.GetElicitationUrl().GetUrl(); {
	case a.elicit == "accept" && url != "":
		return door.Accept(p, ""), "accepted; open " + console.Escape(url)
	case a.elicit == "accept":
		return door.Accept(p, a.content), "accepted"
	case a.elicit == "decline":
		return host.Decline(p, "declined by --elicit decline"), "declined"
	case a.elicit == "hang":
		return nil, "left open"
	}
	return door.Dismiss(p.GetPromptId()), "dismissed; --elicit accept:JSON would answer it"
}

// completionOf returns a sampling result with the given text (MCP 2025-11-25, client/sampling: CreateMessageResult).
func completionOf(text string) string {
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	return console.JSONOf(struct {
		Role       string  `json:"role"`
		Content    content `json:"content"`
		Model      string  `json:"model"`
		StopReason string  `json:"stopReason"`
	}{"assistant", content{"text", text}, "mcphub-cli", "endTurn"})
}

// Inputs are the values of inputs that the command line gives. They may be secret, so no message quotes one.
type Inputs struct {
	given  []string
	Values map[string]string // by id; set by check
}

// Register defines the flag.
func (f *Inputs) Register(set *pflag.FlagSet) {
	set.StringArrayVar(&f.given, "input", nil,
		"ID=VALUE\tgive a value that a config file asks for, or with ID=@NAME that of an environment variable; may be repeated")
}

// Check reads the values, and returns an error if one has not the form that it should have.
func (f *Inputs) Check() error {
	if len(f.given) > 0 {
		f.Values = make(map[string]string, len(f.given))
	}
	for _, g := range f.given {
		id, value, ok := strings.Cut(g, "=")
		if !ok || id == "" {
			return errors.New("--input: it is ID=VALUE or ID=@NAME, and one of them is not")
		}
		if _, twice := f.Values[id]; twice {
			return fmt.Errorf("--input %s: is given twice", id)
		}
		if rest, at := strings.CutPrefix(value, "@"); at && !strings.HasPrefix(rest, "@") {
			if value, ok = os.LookupEnv(rest); !ok {
				return fmt.Errorf("--input %s: its environment variable is not set", id)
			}
		} else if at {
			value = rest
		}
		f.Values[id] = value
	}
	return nil
}

// answerTo returns the flags' answer to a question for a value. ask reports that a person has to answer.
func (f *Inputs) answerTo(p *mcphubv1.Prompt, terminal bool) (answer *mcphubv1.PromptAnswer, note string, ask bool) {
	q := p.GetConfigInput()
	value, given := f.Values[q.GetInputId()]
	right := len(q.GetOptions()) == 0 ||
		slices.ContainsFunc(q.GetOptions(), func(o *mcphubv1.ConfigInputOption) bool { return o.GetValue() == value })
	none := "no --input gives it"
	switch {
	case given && right:
		return give(p, value), "given by --input " + console.Escape(q.GetInputId()), false
	case given:
		none = "the value of --input is none of the options"
	case terminal:
		return nil, "", true
	}
	return host.Decline(p, none), "declined: " + none, false
}

// give returns an answer with a value. The hub must not keep the value: a command line holds for one command, and a
// secret that was typed for one call should not outlive it.
func give(p *mcphubv1.Prompt, value string) *mcphubv1.PromptAnswer {
	answer := door.Accept(p, console.JSONOf(value))
	answer.GetAccept().Scope, answer.GetAccept().KeptByHost = mcphubv1.ApprovalScope_APPROVAL_SCOPE_UNSPECIFIED, true
	return answer
}
