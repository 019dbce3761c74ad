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
)

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
