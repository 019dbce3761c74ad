package job

import (
	"fmt"
	"strings"
)

// Every name that Temporal, its CLI, its Web UI or another language's client relies on. Changing one breaks running
// deployments.

// Workflow types.
const (
	WorkflowJob    = "Job"
	WorkflowReplay = "Replay"
)

// Task queues. Store activities have their own, so that a store that is down does not fill the workflow workers' slots.
const (
	QueueWorkflows = "redrive"
	QueueStore     = "redrive.store"
)

// Lane returns the task queue of t's handler activity, whose activity type is t itself.
func (t Type) Lane() string { return "redrive." + string(t) }

// ControlQueue returns the task queue of t's probes: the same process as the lane, never rate-limited.
func (t Type) ControlQueue() string { return "redrive." + string(t) + ".control" }

// Activities.
const (
	ActivityRecordDeath  = "RecordDeath"
	ActivityLoadParked   = "LoadParked"
	ActivitySaveRequest  = "SaveRequest"
	ActivitySaveReplay   = "SaveReplay"
	ActivityDescribeJob  = "DescribeJob"
	ActivityProbeHandler = "ProbeHandler"
	ActivityFindEffect   = "FindEffect"
	ActivitySettleEffect = "SettleEffect"
	ActivityOpenRequest  = "OpenRequest"
)

// EncodingEncrypted is the encoding of a payload that redrive's codec has encrypted. Its metadata names the key and the
// binding; both are safe to show.
const (
	EncodingEncrypted = "binary/redrive-encrypted-v1"
	MetadataKeyID     = "redrive-key-id"
	MetadataBinding   = "redrive-binding"
)

// Marks that a decoder puts on a payload, and takes off any that arrive from outside.
const (
	// MetadataDecrypted is on a payload that was encrypted, and holds the key's id.
	MetadataDecrypted = "redrive-decrypted"
	// MetadataUnopened is on a raw payload that is still encrypted, and holds one of the reasons.
	MetadataUnopened = "redrive-unopened"

	UnopenedForged       = "forged"        // it was changed, or belongs to another job
	UnopenedKeyDestroyed = "key_destroyed" // nobody can read it any more
)

// PayloadBinding is what a payload in the history of a workflow is bound to: its job, so that Job and Replay of a key may
// pass payloads to each other, or any other workflow by itself. It is empty without a workflow ID.
//
// It travels with every payload, also with summaries, of which the server takes 400 bytes: the job's type and key, or the
// type and, for a long key, ~ and a digest.
func PayloadBinding(workflowID string) string {
	if workflowID == "" {
		return ""
	}
	id, isJob := strings.CutPrefix(workflowID, jobPrefix)
	if !isJob {
		id, isJob = strings.CutPrefix(workflowID, replayPrefix)
	}
	t, key, _ := strings.Cut(id, ":")
	switch {
	case !isJob || len(t) > MaxTypeBytes:
		return "workflow:" + digestName(workflowID)
	case len(id) > maxPlainBinding || strings.HasPrefix(key, "~"): // a key must not look like the digest of another
		return "job:" + t + ":~" + digestName(id)
	default:
		return "job:" + id
	}
}

// BoundType returns the job type that a binding names; ok is false for a workflow that is no job's, and for none.
func BoundType(binding string) (t Type, ok bool) {
	id, isJob := strings.CutPrefix(binding, "job:")
	named, _, colon := strings.Cut(id, ":")
	return Type(named), isJob && colon
}

const maxPlainBinding = 90

// Signals of Replay besides the request kinds, and its query.
const (
	SignalFailed = "failed" // Job → an open Replay: the key failed once more
	QueryState   = "state"
)

// TypeDeadLettered is the type of the ApplicationError a dead-lettered job fails with.
const TypeDeadLettered = "DeadLettered"

// Search attributes.
const (
	AttrJobType        = "JobType"
	AttrJobState       = "JobState"
	AttrErrorClass     = "JobErrorClass"
	AttrFingerprint    = "JobFingerprint"
	AttrHandlerVersion = "JobHandlerVersion"
	AttrAttempts       = "JobAttempts"
)

// SearchAttribute is a name and Temporal's type name for it.
type SearchAttribute struct{ Name, Type string }

// SearchAttributes returns what a namespace must have registered.
func SearchAttributes() []SearchAttribute {
	return []SearchAttribute{
		{AttrJobType, "Keyword"},
		{AttrJobState, "Keyword"},
		{AttrErrorClass, "Keyword"},
		{AttrFingerprint, "Keyword"},
		{AttrHandlerVersion, "Keyword"},
		{AttrAttempts, "Int"},
	}
}

// Workflow IDs use colons: Temporal's own HTTP API answers 404 for an ID with a slash.
const (
	jobPrefix    = "job:"
	replayPrefix = "replay:"
)

// JobWorkflowID returns "job:<type>:<key>".
func (id KeyID) JobWorkflowID() string { return jobPrefix + id.String() }

// ReplayWorkflowID returns "replay:<type>:<key>".
func (id KeyID) ReplayWorkflowID() string { return replayPrefix + id.String() }

// ParseJobWorkflowID is the inverse of JobWorkflowID; the error wraps ErrInvalidKey.
func ParseJobWorkflowID(workflowID string) (KeyID, error) {
	rest, ok := strings.CutPrefix(workflowID, jobPrefix)
	t, key, colon := strings.Cut(rest, ":")
	if !ok || !colon {
		return KeyID{}, fmt.Errorf("%w: the workflow ID is not of the form job:<type>:<key>", ErrInvalidKey)
	}
	id := KeyID{Type: Type(t), Key: Key(key)}
	return id, id.Validate()
}

// StrayID is the identity of a Job whose workflow ID names none: type "unknown" and a key derived from the workflow ID.
func StrayID(workflowID string) KeyID {
	return KeyID{Type: "unknown", Key: Key("workflow-" + digestName(workflowID))}
}
