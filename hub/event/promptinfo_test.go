package event

import "testing"

func TestKinds(t *testing.T) {
	var k Kinds
	k.Add(PromptSampling, false)
	k.Add(PromptElicitationForm, false)
	k.Add(-1, true) // as a window may say
	k.Add(99, true)
	for _, test := range []struct {
		kind      PromptKind
		withTools bool
		want      bool
	}{
		{PromptSampling, false, true},
		{PromptSampling, true, false},
		{PromptElicitationForm, false, true},
		{PromptElicitationURL, false, false},
	} {
		if got := k.Has(test.kind, test.withTools); got != test.want {
			t.Errorf("%s, with tools %v: %v", test.kind, test.withTools, got)
		}
	}
	if k.Add(PromptSampling, true); !k.Has(PromptSampling, true) || k.Has(PromptSignIn, true) {
		t.Error("sampling with tools is shown, and nothing else is new")
	}
}
