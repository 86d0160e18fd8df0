package main

import (
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// question describes a prompt: who asks, and exactly what.
func (t *teller) question(p *mcphubv1.Prompt) []string {
	name := t.nameOf(p.GetPromptId())
	switch q := p.GetQuestion().(type) {
	case *mcphubv1.Prompt_ToolApproval:
		a := q.ToolApproval
		lines := one("question %s: may %s run on %s?", name, shortName(a.GetTool()), p.GetServer())
		if about := firstLine(a.GetDescription()); about != "" {
			lines = append(lines, "  "+escape(cut(about, 200)))
		}
		lines = append(lines, argumentLines(a.GetArgumentsJson())...)
		return append(lines, changedLines("its definition has changed since you allowed it:", a.GetChanges())...)
	case *mcphubv1.Prompt_Sampling:
		return append(one("question %s: %s asks for a completion of your model", name, p.GetServer()),
			messageLines(q.Sampling.GetRequestJson())...)
	case *mcphubv1.Prompt_ElicitationForm:
		return append(one("question %s: %s asks: %s", name, p.GetServer(), q.ElicitationForm.GetMessage()),
			fieldLines(q.ElicitationForm.GetSchemaJson())...)
	case *mcphubv1.Prompt_ElicitationUrl:
		ask := "asks you to visit"
		if q.ElicitationUrl.GetWaiting() {
			ask = "waits until you are done at"
		}
		return append(one("question %s: %s %s %s: %s", name, p.GetServer(), ask, q.ElicitationUrl.GetUrlHost(),
			q.ElicitationUrl.GetMessage()),
			"  "+escape(q.ElicitationUrl.GetUrl()))
	case *mcphubv1.Prompt_SignIn:
		return signInQuestion(name, p.GetServer(), q.SignIn)
	case *mcphubv1.Prompt_ServerLaunch:
		return launchQuestion(name, p.GetServer(), q.ServerLaunch)
	case *mcphubv1.Prompt_ConfigInput:
		return inputQuestion(name, p.GetServer(), q.ConfigInput)
	}
	return one("question %s: %s asks something that is newer than this command", name, p.GetServer())
}

// signInQuestion describes a sign-in. It shows the host and the issuer, by which a person decides, since the page will
// ask for a password. The address is shown in full, on its own line, so that it can be copied or clicked in a terminal.
func signInQuestion(name, server string, q *mcphubv1.SignIn) []string {
	if q.GetWaiting() {
		return one("question %s: waiting until you have signed in at %s", name, q.GetUrlHost())
	}
	lines := one("question %s: server %s wants you to sign in at %s (issuer %s)", name, server, q.GetUrlHost(),
		orDash(q.GetIssuer()))
	if len(q.GetScopes()) > 0 {
		lines = append(lines, one("  for: %s", strings.Join(q.GetScopes(), " "))...)
	}
	return append(append(lines, "  Open this page in a browser:"), one("  %s", q.GetUrl())...)
}
