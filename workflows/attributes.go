package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/job"
)

// failureAttributes are the search attributes of a job that stopped. They hold names and counts, never payload data.
func failureAttributes(t job.Type, state job.State, d job.DeadLettered) temporal.SearchAttributes {
	return attributes(t, state, d.Class, d.Fingerprint, d.Version, d.Attempts)
}

func upsertFailure(ctx workflow.Context, t job.Type, state job.State, class job.Class, r job.Report) error {
	attrs := attributes(t, state, class, r.Fingerprint, r.Version, r.Log.Counted)
	return workflow.UpsertTypedSearchAttributes(ctx, updatesOf(attrs)...)
}

func upsertState(ctx workflow.Context, t job.Type, state job.State, d job.DeadLettered) error {
	return workflow.UpsertTypedSearchAttributes(ctx, updatesOf(failureAttributes(t, state, d))...)
}

func updatesOf(attrs temporal.SearchAttributes) []temporal.SearchAttributeUpdate {
	return []temporal.SearchAttributeUpdate{attrs.Copy()}
}

func attributes(t job.Type, state job.State, class job.Class, fingerprint, version string, attempts int) temporal.SearchAttributes {
	updates := []temporal.SearchAttributeUpdate{
		temporal.NewSearchAttributeKeyKeyword(job.AttrJobType).ValueSet(string(t)),
		temporal.NewSearchAttributeKeyKeyword(job.AttrJobState).ValueSet(string(state)),
		temporal.NewSearchAttributeKeyKeyword(job.AttrErrorClass).ValueSet(string(class)),
		temporal.NewSearchAttributeKeyInt64(job.AttrAttempts).ValueSet(int64(attempts)),
	}
	if fingerprint != "" {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(job.AttrFingerprint).ValueSet(fingerprint))
	}
	if version != "" {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(job.AttrHandlerVersion).ValueSet(version))
	}
	return temporal.NewSearchAttributes(updates...)
}
