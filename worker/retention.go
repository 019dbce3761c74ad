package worker

import (
	"context"
	"sort"

	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
)

// sayRetention says how long Temporal recognises keys, and for which job types nothing else does: after that, the same key
// starts a second job. Only an administrator can change the namespace, and only the policy knows whether it matters.
func (w *Worker) sayRetention(ctx context.Context) {
	response, err := w.client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: w.client.namespace})
	if err != nil {
		w.options.Logger.Warn("namespace retention unknown", zap.String("namespace", w.client.namespace), zap.Error(err))
		return
	}
	var types []string
	for t, policy := range w.policies.ByType {
		if policy.Dedupe != job.DedupeStore {
			types = append(types, string(t))
		}
	}
	sort.Strings(types)
	w.options.Logger.Info("keys are recognised for the namespace's retention, unless their policy says dedupe: store",
		zap.String("namespace", w.client.namespace), zap.Strings("job_types", types),
		zap.Duration("retention", response.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()))
}
