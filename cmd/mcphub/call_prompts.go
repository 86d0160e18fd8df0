package main

import (
	"encoding/json"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// noTerminal is the reason for a denial if nobody could be asked. It would be wrong to allow the call: a script that
// lacks the flag must not run a tool by mistake.
const noTerminal = "no terminal to ask on; --approve allow lets the tool run"

// noBrowser is the reason for declining a sign-in if nobody could be asked: nobody would read the address, and a script
// would wait for ever.
const noBrowser = "no terminal to show the page's address on; --sign-in print shows it and waits"

// noAgreement is the reason for declining a launch if nobody could be asked, and noValue that for an input.
const (
	noAgreement = "no terminal to ask on; --launch allow starts what the workspace file says"
	noValue     = "no terminal to ask on; --input %s=VALUE gives one"
)

// answerTo returns the flags' answer to a prompt, or nil if the prompt is left open. ask reports that a person has to
// decide. note is a text for stderr.
func (a *answers) answerTo(p *mcphubv1.Prompt, terminal bool) (answer *mcphubv1.PromptAnswer, note string, ask bool) {
	id := p.GetPromptId()
	switch q := p.GetQuestion().(type) {
	case *mcphubv1.Prompt_ToolApproval:
		switch {
		case a.approve == "allow":
			return accept(id, ""), "", false
		case a.approve == "deny":
			return decline(id, "denied by --approve deny"), "", false
		case a.approve == "hang":
			return nil, "left open", false
		case terminal:
			return nil, "", true
		}
		return decline(id, noTerminal), "denied: " + noTerminal, false
	case *mcphubv1.Prompt_Sampling:
		switch a.sample {
		case "hang":
			return nil, "left open", false
		case "decline":
			return decline(id, "declined by --sample decline"), "declined; --sample TEXT would answer it", false
		}
		return accept(id, completion(a.sample)), "answered", false
	case *mcphubv1.Prompt_ElicitationForm:
		return a.answerElicitation(id, a.content, "")
	case *mcphubv1.Prompt_ElicitationUrl:
		return a.answerElicitation(id, "", q.ElicitationUrl.GetUrl())
	case *mcphubv1.Prompt_SignIn:
		answer, note = a.answerSignIn(id, q.SignIn, terminal)
		return answer, note, false
	case *mcphubv1.Prompt_ServerLaunch:
		// --approve is about tools: it is not a consent to a command line that the user has never seen.
		switch {
		case a.launch == "allow":
			return acceptLaunch(id, q.ServerLaunch), "agreed to by --launch allow", false
		case a.launch == "deny":
			return decline(id, "denied by --launch deny"), "denied", false
		case terminal:
			return nil, "", true
		}
		return decline(id, noAgreement), "denied: " + noAgreement, false
	case *mcphubv1.Prompt_ConfigInput:
		return a.inputs.answerTo(id, q.ConfigInput, terminal)
	}
	// The kind is newer than this command, and its window has not declared it.
	return dismiss(id), "dismissed: a question of an unknown kind", false
}

func (a *answers) answerElicitation(id, content, url string) (answer *mcphubv1.PromptAnswer, note string, ask bool) {
	switch a.elicit {
	case "accept":
		if url != "" {
			return accept(id, ""), "accepted; open " + escape(url), false
		}
		return accept(id, content), "accepted", false
	case "decline":
		return decline(id, "declined by --elicit decline"), "declined", false
	case "hang":
		return nil, "left open", false
	}
	return dismiss(id), "dismissed; --elicit accept:JSON would answer it", false
}

// answerSignIn accepts once the page's address has been printed: the consent is that a person opens the address. The
// question that waits for the browser closes by itself.
func (a *answers) answerSignIn(id string, q *mcphubv1.SignIn,
	terminal bool) (answer *mcphubv1.PromptAnswer, note string) {
	switch {
	case a.signIn == "hang":
		return nil, "left open"
	case q.GetWaiting():
		return nil, ""
	case a.signIn == "decline":
		return decline(id, "declined by --sign-in decline"), "declined"
	case a.signIn == "print", terminal:
		return accept(id, ""), ""
	}
	return decline(id, noBrowser), "declined: " + noBrowser
}

// completion returns a sampling result with the given text (MCP 2025-11-25, client/sampling: CreateMessageResult).
func completion(text string) string {
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	result, err := json.Marshal(struct {
		Role       string  `json:"role"`
		Content    content `json:"content"`
		Model      string  `json:"model"`
		StopReason string  `json:"stopReason"`
	}{"assistant", content{"text", text}, "mcphub-cli", "endTurn"})
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(result)
}
