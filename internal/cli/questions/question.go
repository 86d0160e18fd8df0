package questions

import (
	"strings"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Lines describes a prompt: who asks, and exactly what.
func Lines(p *mcphubv1.Prompt) []string {
	name := p.GetPromptId()
	switch q := p.GetQuestion().(type) {
	case *mcphubv1.Prompt_ToolApproval:
		a := q.ToolApproval
		lines := console.Lines("question %s: may %s run on %s?", name, console.ShortName(a.GetTool()), p.GetServer())
		if about := console.FirstLine(a.GetDescription()); about != "" {
			lines = append(lines, "  "+console.Escape(console.Cut(about, 200)))
		}
		lines = append(lines, argumentLines(a.GetArgumentsJson())...)
		return append(lines, changedLines("its definition has changed since you allowed it:", a.GetChanges())...)
	case *mcphubv1.Prompt_Sampling:
		return append(console.Lines("question %s: %s asks for a completion of your model", name, p.GetServer()),
			messageLines(q.Sampling.GetRequestJson())...)
	case *mcphubv1.Prompt_ElicitationForm:
		return append(console.Lines("question %s: %s asks: %s", name, p.GetServer(), q.ElicitationForm.GetMessage()),
			fieldLines(q.ElicitationForm.GetSchemaJson())...)
	case *mcphubv1.Prompt_ElicitationUrl:
		ask := "asks you to visit"
		if q.ElicitationUrl.GetWaiting() {
			ask = "waits until you are done at"
		}
		return append(console.Lines("question %s: %s %s %s: %s", name, p.GetServer(), ask, q.ElicitationUrl.GetUrlHost(),
			q.ElicitationUrl.GetMessage()),
			"  "+console.Escape(q.ElicitationUrl.GetUrl()))
	case *mcphubv1.Prompt_SignIn:
		return signInQuestion(name, p.GetServer(), q.SignIn)
	case *mcphubv1.Prompt_ServerLaunch:
		return launchQuestion(name, p.GetServer(), q.ServerLaunch)
	case *mcphubv1.Prompt_ConfigInput:
		return inputQuestion(name, p.GetServer(), q.ConfigInput)
	}
	return console.Lines("question %s: %s asks something that is newer than this command", name, p.GetServer())
}

// signInQuestion describes a sign-in. It shows the host and the issuer, by which a person decides, since the page will
// ask for a password. The address is shown in full, on its own line, so that it can be copied or clicked in a terminal.
func signInQuestion(name, server string, q *mcphubv1.SignIn) []string {
	if q.GetWaiting() {
		return console.Lines("question %s: waiting until you have signed in at %s", name, q.GetUrlHost())
	}
	lines := console.Lines("question %s: server %s wants you to sign in at %s (issuer %s)", name, server, q.GetUrlHost(),
		console.OrDash(q.GetIssuer()))
	if len(q.GetScopes()) > 0 {
		lines = append(lines, console.Lines("  for: %s", strings.Join(q.GetScopes(), " "))...)
	}
	return append(append(lines, "  Open this page in a browser:"), console.Lines("  %s", q.GetUrl())...)
}
