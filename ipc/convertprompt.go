package ipc

import (
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Conversion of prompts from the hub to the contract.

func (c converter) prompt(p event.PromptInfo) *mcphubv1.Prompt {
	m := &mcphubv1.Prompt{
		PromptId: c.text(p.ID), Server: c.text(p.Server), RequestId: c.text(p.RequestID),
		ParentRequestId: c.text(p.ParentRequestID),
		OpenTime:        timestamp(p.Open), Deadline: timestamp(p.Deadline),
	}
	switch a, q, s := p.Approval, p.Question, p.SignIn; {
	case p.Kind == event.PromptToolApproval && a != nil:
		m.Question = &mcphubv1.Prompt_ToolApproval{ToolApproval: &mcphubv1.ToolApproval{
			Tool: c.text(a.Tool.Name), Title: c.text(a.Tool.Title), Description: c.text(a.Tool.Description),
			ArgumentsJson:  c.text(a.Arguments),
			DefinitionJson: c.text(a.Tool.Definition), DefinitionHash: c.text(a.DefinitionHash), DestructiveHint: a.Destructive,
			ReadOnlyHint:           a.ReadOnly,
			PreviousDefinitionJson: c.text(a.Previous), Changes: list(a.Changes, c.definitionChange),
		}}
	case p.Kind == event.PromptSampling && q != nil:
		m.Question = &mcphubv1.Prompt_Sampling{Sampling: &mcphubv1.Sampling{RequestJson: c.text(string(q.Payload))}}
	case p.Kind == event.PromptElicitationForm && q != nil:
		m.Question = &mcphubv1.Prompt_ElicitationForm{ElicitationForm: &mcphubv1.ElicitationForm{
			Message: c.text(q.Message), SchemaJson: c.text(string(q.Schema)), RequestJson: c.text(string(q.Payload)),
		}}
	case p.Kind == event.PromptElicitationURL && q != nil:
		m.Question = &mcphubv1.Prompt_ElicitationUrl{ElicitationUrl: &mcphubv1.ElicitationUrl{
			Message: c.text(q.Message), Url: c.text(q.URL), UrlHost: c.text(q.URLHost), Waiting: q.Waiting,
			RequestJson: c.text(string(q.Payload)),
		}}
	case p.Kind == event.PromptSignIn && s != nil:
		m.Question = &mcphubv1.Prompt_SignIn{SignIn: &mcphubv1.SignIn{
			Url: c.text(s.URL), UrlHost: c.text(s.URLHost), Waiting: s.Waiting, Issuer: c.text(s.Issuer),
			Resource: c.text(s.Resource), Scopes: c.texts(s.Scopes),
		}}
	case p.Kind == event.PromptServerLaunch && p.Launch != nil:
		m.Question = &mcphubv1.Prompt_ServerLaunch{ServerLaunch: c.launch(p.Launch)}
	case p.Kind == event.PromptConfigInput && p.Input != nil:
		m.Question = &mcphubv1.Prompt_ConfigInput{ConfigInput: c.configInput(p.Input)}
	}
	return m
}

func (c converter) definitionChange(d event.DefinitionChange) *mcphubv1.DefinitionChange {
	return &mcphubv1.DefinitionChange{Path: c.text(d.Path), BeforeJson: c.text(d.Before), AfterJson: c.text(d.After)}
}

func (c converter) launch(l *event.LaunchQuestion) *mcphubv1.ServerLaunch {
	var by *mcphubv1.ConfigWriter
	if l.WrittenBy != "" {
		by = &mcphubv1.ConfigWriter{Name: c.text(l.WrittenBy), WindowId: c.text(l.WrittenIn)}
	}
	return &mcphubv1.ServerLaunch{
		WrittenBy: by,
		Command:   c.text(l.Command), Args: c.texts(l.Args), Directory: c.text(l.Dir), EnvironmentNames: c.texts(l.EnvNames),
		EnvironmentReferences: c.texts(l.EnvRefs),
		EnvFile:               c.text(l.EnvFile), Url: c.text(l.URL), HeaderNames: c.texts(l.HeaderNames),
		AllowedTools: c.texts(l.AllowedTools), Files: c.texts(l.Files),
		ConfigFile: c.text(l.ConfigFile), ConfigLine: int32(l.ConfigLine), LaunchHash: c.text(l.Hash), Changed: l.Changed,
		Changes: list(l.Changes, c.definitionChange), InputReferences: c.texts(l.InputRefs),
		ResolvedCommand: c.text(l.Program), ResolvedTarget: c.text(l.ProgramTarget), Unresolved: c.text(l.Unresolved),
		ResolvedFrom: c.text(l.ProgramFrom), InheritedNames: c.texts(l.Inherited), EnvFileNames: c.texts(l.EnvFileNames),
		Environment: list(l.Env, func(v event.LaunchVariable) *mcphubv1.LaunchVariable {
			return &mcphubv1.LaunchVariable{Name: c.text(v.Name), Value: c.text(v.Value), Unset: v.Unset, LoadsCode: v.LoadsCode}
		}),
	}
}

func (c converter) configInput(q *event.InputQuestion) *mcphubv1.ConfigInput {
	return &mcphubv1.ConfigInput{
		InputId: c.text(q.InputID), Description: c.text(q.Description), Secret: q.Secret, DefaultValue: c.text(q.Default),
		Options: list(q.Options, func(o event.InputOption) *mcphubv1.ConfigInputOption {
			return &mcphubv1.ConfigInputOption{Value: c.text(o.Value), Label: c.text(o.Label)}
		}),
		ConfigFile: c.text(q.ConfigFile), ConfigLine: int32(q.ConfigLine),
	}
}
