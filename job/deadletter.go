package job

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/redrivehq/redrive/redaction"
)

// ErrNotFound is wrapped when a dead letter or request is not in the store.
var ErrNotFound = errors.New("not found")

// ErrPayloadGone is wrapped when a payload reference leads nowhere, now and later: erased, never stored, or sealed
// with a key that nobody holds. Trouble that may pass is any other error.
var ErrPayloadGone = errors.New("payload is gone")

// DeadLetterID names the dead letter of one key. It is derived from namespace, type and key, so a second failure of
// the same key finds its lineage instead of becoming a stranger.
type DeadLetterID string

// NewDeadLetterID derives the id: "dl_" and 26 characters of a-z2-7.
func NewDeadLetterID(namespace string, id KeyID) DeadLetterID {
	return DeadLetterID("dl_" + digestName(namespace, id.String()))
}

// NewPayloadRef derives the reference of the payload that run runID of a job was started with.
func NewPayloadRef(namespace, runID string) PayloadRef {
	return PayloadRef("pl_" + digestName(namespace, runID))
}

func digestName(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:26]
}

// DeadLetter is the durable, redacted record of a job that stopped. Nothing in it quotes a sensitive value. The fields
// of the first failure never change; replays, requests and further failures stand beside them.
type DeadLetter struct {
	ID        DeadLetterID `json:"id"`
	Namespace string       `json:"namespace"`
	KeyID
	Owner   string   `json:"owner,omitempty"`
	Runbook string   `json:"runbook,omitempty"`
	Subject string   `json:"subject,omitempty"`
	Tags    []string `json:"tags,omitempty"`

	State     State      `json:"state"`
	Replays   int        `json:"replays"`              // replays begun
	NotBefore *time.Time `json:"not_before,omitempty"` // no replay before this moment
	UpdatedAt time.Time  `json:"updated_at"`

	// The current failure is the newest of the lineage.
	FailureRecord
	// KeepUntil is when retention ends.
	KeepUntil time.Time `json:"keep_until"`

	Failures []FailureRecord `json:"failures,omitempty"` // oldest first, each run that failed
	History  []ReplayRecord  `json:"history,omitempty"`  // oldest first
	Requests []RequestRecord `json:"requests,omitempty"` // oldest first, refused ones too
	// Effects are where the ledger has the job's effects, unsettled ones first, at most MaxListedEffects.
	Effects []EffectStanding `json:"effects,omitempty"`
	// Erased says that the job's data was erased, when it last was. Failures after that are new data.
	Erased *Erasure `json:"erased,omitempty"`
}

// FailureRecord is how one run of a job failed.
type FailureRecord struct {
	WorkflowID      string           `json:"workflow_id"`
	RunID           string           `json:"run_id"`
	Replay          int              `json:"replay"` // which replay the run was; 0 for a run that no operator asked for
	SchemaVersion   int              `json:"schema_version"`
	Version         string           `json:"handler_version,omitempty"`
	Class           Class            `json:"error_class"`
	Cause           Cause            `json:"cause"`
	Message         string           `json:"message"` // scrubbed
	Fingerprint     string           `json:"fingerprint"`
	Log             AttemptLog       `json:"attempts"`
	FirstFailure    time.Time        `json:"first_failure"`
	LastFailure     time.Time        `json:"last_failure"`
	PayloadRef      PayloadRef       `json:"payload_ref,omitempty"`
	RedactedPayload json.RawMessage  `json:"redacted_payload,omitempty"`
	Redaction       *RedactionReport `json:"redaction,omitempty"`
}

// RedactionReport is what the redactor did, in counts only.
type RedactionReport struct {
	Fields   int            `json:"fields"`
	Values   int            `json:"values"`
	ByRule   map[string]int `json:"by_rule,omitempty"`
	Withheld bool           `json:"withheld,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	// Counts splits ByRule by surface and operator.
	Counts []redaction.Count `json:"counts,omitempty"`
	Bytes  int               `json:"bytes,omitempty"`  // looked into
	Layers int               `json:"layers,omitempty"` // encodings opened
	Policy string            `json:"policy_sha256,omitempty"`
	Engine string            `json:"engine_version,omitempty"`
}

// ReplayRecord is one replay of a dead letter and its outcome.
type ReplayRecord struct {
	DeadLetterID DeadLetterID `json:"dead_letter_id"`
	Number       int          `json:"number"`
	RequestID    string       `json:"request_id"`
	Actor        string       `json:"actor"` // as claimed by whoever sent the signal
	Reason       string       `json:"reason"`
	Defect       string       `json:"defect,omitempty"`
	Fixed        string       `json:"fixed_version,omitempty"`
	Forced       bool         `json:"forced,omitempty"`
	StartedAt    time.Time    `json:"started_at"`
	FinishedAt   *time.Time   `json:"finished_at,omitempty"`
	Outcome      Outcome      `json:"outcome,omitempty"` // empty while it runs
	Detail       string       `json:"detail,omitempty"`
	// State and NotBefore are where the dead letter stands after this record.
	State     State      `json:"state"`
	NotBefore *time.Time `json:"not_before,omitempty"`
}

// RequestRecord is one operator request and the decision on it; the log of these is the audit trail.
type RequestRecord struct {
	DeadLetterID DeadLetterID `json:"dead_letter_id"`
	RequestID    string       `json:"request_id"`
	Kind         RequestKind  `json:"kind"`
	Actor        string       `json:"actor"` // as claimed
	Reason       string       `json:"reason,omitempty"`
	Text         string       `json:"text,omitempty"`
	Effect       string       `json:"effect,omitempty"`   // reconcile
	Happened     *bool        `json:"happened,omitempty"` // reconcile
	Accepted     bool         `json:"accepted"`
	Replay       int          `json:"replay,omitempty"`
	Refusal      *Refusal     `json:"refusal,omitempty"`
	At           time.Time    `json:"at"`
	// State is where the dead letter stands after this request; empty leaves it as it is.
	State State `json:"state,omitempty"`
}

// SealedPayload is an encrypted payload as the vault table holds it.
type SealedPayload struct {
	Ref   PayloadRef
	KeyID KeyID
	// Whose it is, to find it by. Empty where nobody said; it is not read back.
	Namespace, Subject string

	KeysetID   string // which key of the keyset sealed it
	DataKey    []byte // the record's own key, encrypted by the keyset; empty in a row that the keyset sealed itself
	Ciphertext []byte
	CreatedAt  time.Time
}
