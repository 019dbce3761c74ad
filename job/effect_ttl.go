package job

import "time"

// defaultKeyTTL is 100 days: a day of retries, the 90 days that a dead letter is kept, a day for its last replay, and
// eight days of margin.
const defaultKeyTTL = 2400 * time.Hour

// CheckKeyTTL refuses a policy under which the ledger could forget an effect that a retry or a replay can still ask for.
// The key TTL must exceed the retry horizon (the deadline) plus the replay window: the dead letter waits for its
// retention, waits between replays included, and the last replay runs for another deadline. It is asked of every policy,
// since whoever holds the policies need not know which handlers use the ledger.
//
// The error is a *PolicyError with the numbers.
func CheckKeyTTL(p Policy) error {
	p = p.WithDefaults()
	if need := keyHorizon(p); p.KeyTTL <= need {
		return refusePolicy([]string{"key_ttl", "deadline", "retention"},
			"key_ttl %s must exceed %s = deadline %s (retries) + retention %s + deadline %s (replays): the ledger would forget effects that a replay asks for",
			p.KeyTTL, need, p.Deadline, p.Retention, p.Deadline)
	}
	return nil
}

func keyHorizon(p Policy) time.Duration { return p.Deadline + p.Retention + p.Deadline }
