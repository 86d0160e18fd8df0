package main

import (
	"encoding/json"
	"slices"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// kinds returns the kinds of prompts that the command can show: those that a flag answers, and on a terminal all. The
// hub then knows where nobody can be asked, and says so.
func (a *answers) kinds(terminal bool) []mcphubv1.PromptKind {
	return slices.DeleteFunc(slices.Clone(allKinds), func(kind mcphubv1.PromptKind) bool {
		switch kind {
		case mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL:
			return !terminal && a.approve == ""
		case mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN:
			return !terminal && a.signIn == ""
		case mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH:
			return !terminal && (a.launch == "" || a.launch == "ask")
		case mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT:
			return !terminal && len(a.inputs.values) == 0
		}
		return false
	})
}

// answerTo returns the flags' answer to a prompt of those kinds, or nil if the prompt is left open. ask reports that a
// person has to decide. note is a text for stderr.
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
		}
		return nil, "", true
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
		answer, note = a.answerSignIn(id, q.SignIn)
		return answer, note, false
	case *mcphubv1.Prompt_ServerLaunch:
		// --approve is about tools: it is not a consent to a command line that the user has never seen.
		switch {
		case a.launch == "allow":
			return once(host.Accept(p)), "agreed to by --launch allow", false
		case a.launch == "deny":
			return decline(id, "denied by --launch deny"), "denied", false
		}
		return nil, "", true
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
func (a *answers) answerSignIn(id string, q *mcphubv1.SignIn) (answer *mcphubv1.PromptAnswer, note string) {
	switch {
	case a.signIn == "hang":
		return nil, "left open"
	case q.GetWaiting():
		return nil, ""
	case a.signIn == "decline":
		return decline(id, "declined by --sign-in decline"), "declined"
	}
	return accept(id, ""), ""
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
