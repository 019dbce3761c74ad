package job

// PlainStart says what happens to a job whose payload stands in Temporal's history as it was sent, because its producer
// bypassed the payload codec. It matters where payloads are encrypted.
type PlainStart string

// The rules for plain starts.
const (
	PlainStartRefuse PlainStart = "refuse" // the job is dead-lettered as invalid_payload before its handler runs
	PlainStartAllow  PlainStart = "allow"  // it runs, and is counted
)

// AllPlainStarts returns every rule.
func AllPlainStarts() []PlainStart { return []PlainStart{PlainStartRefuse, PlainStartAllow} }

// VaultUse says which payloads go into the vault when a job is started, so that Temporal gets only a reference.
type VaultUse string

// The uses of the vault.
const (
	VaultLarge  VaultUse = "large"  // those that are too large for Temporal
	VaultAlways VaultUse = "always" // all: for payloads that must be erasable while the job's history is there
)

// AllVaultUses returns every use.
func AllVaultUses() []VaultUse { return []VaultUse{VaultLarge, VaultAlways} }

// PrivacyEvent is something that came past the payload codec, or tried to, for metrics.
type PrivacyEvent string

// The privacy events.
const (
	PrivacyPlainStartAllowed PrivacyEvent = "plain_start_allowed"
	PrivacyPlainStartRefused PrivacyEvent = "plain_start_refused"
	// PrivacyInputRefused: a job was started with ciphertext that is not its own.
	PrivacyInputRefused PrivacyEvent = "input_refused"
	// PrivacyRequestRefused: an operator's request came as foreign ciphertext, a storage reference, or as ciphertext of ours
	// that does not open for the dead letter.
	PrivacyRequestRefused PrivacyEvent = "request_refused"
)

// AllPrivacyEvents returns every event.
func AllPrivacyEvents() []PrivacyEvent {
	return []PrivacyEvent{PrivacyPlainStartAllowed, PrivacyPlainStartRefused, PrivacyInputRefused, PrivacyRequestRefused}
}
