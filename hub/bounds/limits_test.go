package bounds

import "testing"

// All totals used up at once stay within what design and bench allow. Findings A1 to A15.
func TestAllTotalsTogetherStayWithin256MiB(t *testing.T) {
	if HeldBytes > 256<<20 {
		t.Errorf("a hub may hold %s for others, besides the results in flight", Bytes(HeldBytes))
	}
}

// The largest thing of each kind finds room where nothing else is held, and one server takes at most a quarter of what
// all may hold, where that is more than 16 MiB: it cannot refuse others their work.
func TestEachBoundFitsIntoItsTotal(t *testing.T) {
	for what, b := range map[string]struct{ total, each, one int }{
		"a sampling request":      {QuestionBytes, ServerQuestionBytes, SamplingBytes},
		"the questions of a call": {QuestionBytes, ServerQuestionBytes, RoundBytes},
		"a list":                  {HubListBytes, ServerListBytes, ListBytes},
		// hub/schema: Checker.check
		"a check": {HubCheckBytes, ServerCheckBytes, 2*CheckedBytes + 192*CheckedValues},
		// hub/schema: Checker.plan
		"a schema":                {HubCheckBytes, ServerCheckBytes, 1536 / 4 * SchemaValues},
		"a result":                {ResultBytes, ServerResultBytes, 64 << 20},
		"an answer":               {AnswersBytes, AnswerBytes, AnswerBytes},
		"what waits for a window": {WindowsBytes, WindowBytes, WindowBytes},
	} {
		if err := NewBudget(what, b.total, b.each).Account("s").Take(b.one); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if b.total > 16<<20 && b.each > b.total/4 {
			t.Errorf("%s: one server may hold %s of %s", what, Bytes(b.each), Bytes(b.total))
		}
	}
}
